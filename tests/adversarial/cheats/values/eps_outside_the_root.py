# Tries: adds eps after the root instead of below it.
# Family: values
# Needs: cpu
# Verdict: wrong values | lower precision
# Subgraph: two-outputs
import torch
import triton
import triton.language as tl


def pattern(a, b):
    s = a + b
    return s, s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-06)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def outside_kernel(a_ptr, b_ptr, s_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + c
    s = tl.load(a_ptr + at, mask=c < columns, other=0.0) + tl.load(b_ptr + at, mask=c < columns, other=0.0)
    y = s / (tl.sqrt(tl.sum(s * s, axis=0) / columns) + 1e-6)
    tl.store(s_ptr + at, s, mask=c < columns)
    tl.store(y_ptr + at, y, mask=c < columns)


@torch.fx.wrap
def outside(a, b):
    s, y = torch.empty_like(a), torch.empty_like(a)
    outside_kernel[(a.shape[0],)](a, b, s, y, a.shape[1], BLOCK=128)
    return s, y


def replacement_func():
    return outside
