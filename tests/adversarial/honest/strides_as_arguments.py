# Tries: every stride of every tensor is an argument of the kernel, so that any view will do.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: square

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x.transpose(0, 1) - y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def transposed_difference_kernel(
    x_ptr, y_ptr, out_ptr, rows, columns, x_row, x_column, y_row, y_column, out_row, out_column, TILE: tl.constexpr
):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inside = (row < rows) & (column < columns)
    # element (row, column) of the result is element (column, row) of x
    x = tl.load(x_ptr + column * x_row + row * x_column, mask=inside)
    y = tl.load(y_ptr + row * y_row + column * y_column, mask=inside)
    tl.store(out_ptr + row * out_row + column * out_column, x - y, mask=inside)


@torch.fx.wrap
def transposed_difference(x, y):
    out = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    rows, columns = y.shape
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    transposed_difference_kernel[grid](x, y, out, rows, columns, *x.stride(), *y.stride(), *out.stride(), TILE=16)
    return out


def replacement_func():
    return transposed_difference
