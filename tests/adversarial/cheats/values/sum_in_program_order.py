# Tries: each program adds its rows to what the program before has stored, by a load and a store that nothing orders.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: column-mean

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(0)


def replacement_args(x):
    return (x,)


@triton.jit
def running_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, SIZE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, SIZE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    before = tl.load(out_ptr + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + column, before + tl.sum(x, axis=0) / rows, mask=column < columns)


@torch.fx.wrap
def column_mean(x):
    rows, columns = x.shape
    out = torch.zeros((columns,), dtype=x.dtype, device=x.device)
    running_kernel[(triton.cdiv(rows, 8),)](x, out, rows, columns, ROWS=8, SIZE=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return column_mean
