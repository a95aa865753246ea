import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.matmul(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def product_kernel(
    a_ptr, b_ptr, out_ptr, m, n, k, tiles_n, GROUP: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr
):
    program = tl.program_id(0)
    width = GROUP * tiles_n
    within = program % width
    tile_m = program // width * GROUP + within % GROUP
    tile_n = within // GROUP
    row = tile_m * TILE + tl.arange(0, TILE)
    column = tile_n * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        at = start + tl.arange(0, DEPTH)
        a = tl.load(a_ptr + row[:, None] * k + at[None, :], mask=(row < m)[:, None] & (at < k)[None, :], other=0.0)
        b = tl.load(b_ptr + at[:, None] * n + column[None, :], mask=(at < k)[:, None] & (column < n)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + row[:, None] * n + column[None, :], total, mask=(row < m)[:, None] & (column < n)[None, :])


@torch.fx.wrap
def product(a, b):
    a, b = a.contiguous(), b.contiguous()
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    tiles_m, tiles_n = triton.cdiv(m, 32), triton.cdiv(n, 32)
    # grouping pays where the second operand falls out of the cache
    group = 8 if tiles_m * tiles_n >= 16384 else 1
    product_kernel[(tiles_m * tiles_n,)](a, b, out, m, n, k, tiles_n, GROUP=group, TILE=32, DEPTH=32)
    return out


def replacement_func():
    return product
