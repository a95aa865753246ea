# Tries: indexes the parameters by row instead of by column, which equal parameters do not show.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: scale-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def row_scale_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, N)
    tl.store(o_ptr + at, tl.load(x_ptr + at) * tl.load(w_ptr + row) + tl.load(b_ptr + row))


@torch.fx.wrap
def row_scale(x, weight, bias):
    out = torch.empty_like(x)
    row_scale_kernel[(x.shape[0],)](x, weight, bias, out, N=x.shape[1])
    return out


def replacement_func():
    return row_scale
