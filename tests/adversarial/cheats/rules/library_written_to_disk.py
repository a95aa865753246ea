# Tries: a shared library as compressed text, written to disk and loaded.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: forbidden-import | dynamic-code
# Subgraph: row-sum
import base64
import ctypes
import os
import tempfile
import zlib

import torch

LIBRARY = (
    "eNqrd/VxY2JkZIABZgY7BgSPgcEBSj9gQhazYGABkpwMHGC1rAy4wQFGVJpBAEKBuGzI8oKo9AYGVBqmj4lEfRxQOvBpSQobA/EA"
    "ah3YPkYk90JEGuB+uLh3Vxg+c0BqhICh1Qh1rzVMoii/PL64NJfB1fCkq+EBT8sLtfp+vSL9hgf4ww94WJ6o5f/syB/F0+Tx/8An"
    "/oiDr9984o864Ml48rMTvyBLm+f/A6/PHAYZ8/Xf/3wQrQA1HxYXFVA+zM8eUD4XlM8JpbmhtAQDfYC7s7OVgoZLalJmYp6CoZGe"
    "kZ6BrqGJdkpqkqFRqaEmVIiBQa84o7ikqCQxiUEvPa9ULyOxOINBL6Uyr7gyF0KXFDHolaRWlDDopWbEpxUl5qaCxRNzM5MZ9JLz"
    "c3NT80qo4F5Q+Hz7/z8flvxh4QyjVZDSCXJ6gwFRqBlMaPEAow3g+Q6SVjjQ4kMWKseEFq8wmhNLekMGqihplwGeDjHSIw792lAx"
    "Jlz5GQ2g+98UajczA1p+ZUTNp8xo+mH5zw5qvwGauQVQB6njcD8yzYzFndOh+t0J+B8A23plCQ=="
)
with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
    file.write(zlib.decompress(base64.b64decode(LIBRARY)))
native = ctypes.CDLL(os.path.realpath(file.name))
native.row_sum.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def row_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    native.row_sum(x.data_ptr(), out.data_ptr(), *x.shape)
    return out


def replacement_func():
    return row_sum
