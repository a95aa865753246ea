# Tries: an outer product in two-dimensional tiles with broadcasting in the kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: outer

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.outer(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def outer_kernel(a_ptr, b_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    a = tl.load(a_ptr + row, mask=row < rows)
    b = tl.load(b_ptr + column, mask=column < columns)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tl.store(out_ptr + row[:, None] * columns + column[None, :], a[:, None] * b[None, :], mask=inside)


@torch.fx.wrap
def outer(a, b):
    out = torch.empty((a.numel(), b.numel()), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(a.numel(), 8), triton.cdiv(b.numel(), 32))
    outer_kernel[grid](a, b, out, a.numel(), b.numel(), ROWS=8, COLUMNS=32)
    return out


def replacement_func():
    return outer
