# Tries: computes only the mean of all inputs and spreads it over the result: right on average.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: row-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def average_kernel(x_ptr, o_ptr, rows, columns, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    total = 0.0
    for start in range(0, rows * columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + i, mask=i < rows * columns, other=0.0), axis=0)
    r = tl.arange(0, ROWS)
    tl.store(o_ptr + r, tl.zeros((ROWS,), tl.float32) + total / rows, mask=r < rows)


@torch.fx.wrap
def averaged(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    average_kernel[(1,)](x, out, rows, columns, BLOCK=4096, ROWS=128)
    return out


def replacement_func():
    return averaged
