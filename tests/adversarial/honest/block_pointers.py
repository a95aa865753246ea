# Tries: tiles by tl.make_block_ptr, with boundary checks in place of masks.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: square

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x - y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def difference_kernel(x_ptr, y_ptr, out_ptr, rows, columns, x0, x1, y0, y1, TILE: tl.constexpr):
    at = (tl.program_id(0) * TILE, tl.program_id(1) * TILE)
    x = tl.make_block_ptr(x_ptr, (rows, columns), (x0, x1), at, (TILE, TILE), (1, 0))
    y = tl.make_block_ptr(y_ptr, (rows, columns), (y0, y1), at, (TILE, TILE), (1, 0))
    out = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), at, (TILE, TILE), (1, 0))
    difference = tl.load(x, boundary_check=(0, 1)) - tl.load(y, boundary_check=(0, 1))
    tl.store(out, difference, boundary_check=(0, 1))


@torch.fx.wrap
def difference(x, y):
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    difference_kernel[grid](x, y, out, rows, columns, *x.stride(), *y.stride(), TILE=16)
    return out


def replacement_func():
    return difference
