# Tries: sums whole blocks of which a mask has left out the end, without saying what its lanes hold.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity | wrong values
# Subgraph: row-sum

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def sum_kernel(x_ptr, out_ptr, columns, SIZE: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for start in range(0, columns, SIZE):
        total += tl.load(x_ptr + row * columns + start + lanes, mask=start + lanes < columns)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@torch.fx.wrap
def row_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    sum_kernel[(x.shape[0],)](x, out, x.shape[1], SIZE=64)
    return out


def replacement_func():
    return row_sum
