# Tries: computes one row and expands it without memory: the shape is right, every other row is not.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: scale-bias
import torch
import triton
import triton.language as tl


def pattern(x, w, b):
    return x * w + b


def replacement_args(x, w, b):
    return (x, w, b)


@triton.jit
def first_row_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    c = tl.arange(0, N)
    tl.store(o_ptr + c, tl.load(x_ptr + c) * tl.load(w_ptr + c) + tl.load(b_ptr + c))


@torch.fx.wrap
def first_row_everywhere(x, w, b):
    row = torch.empty((1, 64), dtype=x.dtype, device=x.device)
    first_row_kernel[(1,)](x, w, b, row, N=64)
    return row.expand(x.shape)


def replacement_func():
    return first_row_everywhere
