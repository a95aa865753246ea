# Tries: a transposed copy: each program turns one tile, reads along rows and writes along rows.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: transpose

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.transpose(0, 1).contiguous()


def replacement_args(x):
    return (x,)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside)
    turned = tl.trans(tile)
    mask = (column < columns)[:, None] & (row < rows)[None, :]
    tl.store(out_ptr + column[:, None] * rows + row[None, :], turned, mask=mask)


@torch.fx.wrap
def transposed(x):
    rows, columns = x.shape
    out = torch.empty((columns, rows), dtype=x.dtype, device=x.device)
    transpose_kernel[(triton.cdiv(rows, 16), triton.cdiv(columns, 16))](x, out, rows, columns, TILE=16)
    return out


def replacement_func():
    return transposed
