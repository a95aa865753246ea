# Tries: a mean over the leading axis: neighbouring programs read neighbouring columns.
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
def column_mean_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        total += tl.sum(tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0), axis=0)
    tl.store(out_ptr + column, total / rows, mask=column < columns)


@torch.fx.wrap
def column_mean(x):
    rows, columns = x.shape
    out = torch.empty((columns,), dtype=x.dtype, device=x.device)
    column_mean_kernel[(triton.cdiv(columns, 32),)](x, out, rows, columns, ROWS=16, COLUMNS=32)
    return out


def replacement_func():
    return column_mean
