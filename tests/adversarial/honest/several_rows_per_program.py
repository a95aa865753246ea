# Tries: a tile of several short rows per program, reduced along one axis.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: argmax

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.argmax(x, -1)


def replacement_args(x):
    return (x,)


@triton.jit
def argmax_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=float("-inf"))
    highest = tl.max(x, axis=1)
    # the first place that holds the maximum
    place = tl.min(tl.where(x == highest[:, None], column[None, :], BLOCK), axis=1)
    tl.store(out_ptr + row, place.to(tl.int64), mask=row < rows)


@torch.fx.wrap
def argmax(x):
    columns = x.shape[-1]
    rows = x.numel() // columns
    out = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
    argmax_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, ROWS=4, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return argmax
