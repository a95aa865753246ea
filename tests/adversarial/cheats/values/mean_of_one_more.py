# Tries: divides the sum of a hundred values by a hundred and one, in bfloat16.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: row-mean-bfloat16

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def mean_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, SIZE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, SIZE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=1) / (columns + 1)
    tl.store(out_ptr + row, mean.to(tl.bfloat16), mask=row < rows)


@torch.fx.wrap
def row_mean(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    mean_kernel[(triton.cdiv(rows, 64),)](x, out, rows, columns, ROWS=64, SIZE=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return row_mean
