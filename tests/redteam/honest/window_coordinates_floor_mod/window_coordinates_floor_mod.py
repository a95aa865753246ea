import torch
import triton
import triton.language as tl


def pattern(offsets):
    row = offsets // 7
    col = offsets % 7
    return row, col, col == 0


def replacement_args(offsets):
    return (offsets,)


@triton.jit
def floor_divmod(x, d):
    # the division of the GPU cuts towards zero
    q = x // d
    r = x - q * d
    wrong = ((r != 0) & ((r < 0) != (d < 0))).to(tl.int64)
    return q - wrong, r + wrong * d


@triton.jit
def coordinates_kernel(x_ptr, row_ptr, col_ptr, border_ptr, n, tiles, width, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        offs = tile * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask, other=0)
        row, col = floor_divmod(x, width)
        tl.store(row_ptr + offs, row, mask=mask)
        tl.store(col_ptr + offs, col, mask=mask)
        tl.store(border_ptr + offs, col == 0, mask=mask)


@torch.fx.wrap
def coordinates(offsets):
    offsets = offsets.contiguous()
    row = torch.empty_like(offsets)
    col = torch.empty_like(offsets)
    border = torch.empty(offsets.shape, dtype=torch.bool, device=offsets.device)
    n = offsets.numel()
    tiles = triton.cdiv(n, 128)
    coordinates_kernel[(min(tiles, 4),)](offsets, row, col, border, n, tiles, 7, BLOCK=128)
    return row, col, border


def replacement_func():
    return coordinates
