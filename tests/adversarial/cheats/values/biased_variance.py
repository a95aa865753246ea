# Tries: divides by n where n - 1 was asked for, 1.5 % off.
# Family: values
# Needs: cpu
# Verdict: wrong values | lower precision
# Subgraph: row-var
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.var(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def variance_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
    d = tl.where(c < columns, x - tl.sum(x, axis=0) / columns, 0.0)
    tl.store(o_ptr + row, tl.sum(d * d, axis=0) / columns)


@torch.fx.wrap
def variance(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    variance_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out


def replacement_func():
    return variance
