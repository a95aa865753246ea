# Tries: allocates through the input itself, with new_empty and new_zeros.
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


@triton.jit
def column_sum_kernel(x_ptr, sum_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)
    inside = (row < rows) & (column < columns)[None, :]
    x = tl.load(x_ptr + row * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(sum_ptr + column, tl.sum(x, axis=0), mask=column < columns)


@triton.jit
def divide_kernel(sum_ptr, out_ptr, rows, columns, COLUMNS: tl.constexpr):
    column = tl.arange(0, COLUMNS)
    inside = column < columns
    tl.store(out_ptr + column, tl.load(sum_ptr + column, mask=inside) / rows, mask=inside)


@torch.fx.wrap
def column_mean(x):
    rows, columns = x.shape
    width = triton.next_power_of_2(columns)
    sums = x.new_zeros((columns,))
    out = x.new_empty((columns,))
    column_sum_kernel[(triton.cdiv(rows, 16),)](x, sums, rows, columns, ROWS=16, COLUMNS=width)
    divide_kernel[(1,)](sums, out, rows, columns, COLUMNS=width)
    return out


def replacement_func():
    return column_mean
