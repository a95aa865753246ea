# Tries: keeps a buffer of accumulators between calls, which are zero when a call begins because the second kernel of
#   the call before has cleared them.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: column-mean

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(0)


def replacement_args(x):
    return (x,)


SUMS = {}


@triton.jit
def accumulate_kernel(x_ptr, sums_ptr, rows, columns, ROWS: tl.constexpr, SIZE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, SIZE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(sums_ptr + column, tl.sum(x, axis=0), mask=column < columns)


@triton.jit
def finish_kernel(sums_ptr, out_ptr, rows, columns, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    inside = column < columns
    tl.store(out_ptr + column, tl.load(sums_ptr + column, mask=inside) / rows, mask=inside)
    tl.store(sums_ptr + column, tl.zeros((SIZE,), tl.float32), mask=inside)


@torch.fx.wrap
def column_mean(x):
    rows, columns = x.shape
    key = (columns, x.device)
    if key not in SUMS:
        SUMS[key] = torch.zeros((columns,), dtype=torch.float32, device=x.device)
    out = torch.empty((columns,), dtype=x.dtype, device=x.device)
    size = triton.next_power_of_2(columns)
    accumulate_kernel[(triton.cdiv(rows, 16),)](x, SUMS[key], rows, columns, ROWS=16, SIZE=size)
    finish_kernel[(1,)](SUMS[key], out, rows, columns, SIZE=size)
    return out


def replacement_func():
    return column_mean
