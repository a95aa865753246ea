"""The sum of two tensors and its RMS normalisation, both results from one pass over the rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def residual_rmsnorm_kernel(
    x_ptr, residual_ptr, weight_ptr, sum_ptr, out_ptr, rows, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    offsets = row.to(tl.int64) * columns + column
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=column < columns).to(tl.float32)
    total = (x + residual).to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + offsets, total, mask=inside)
    x = total.to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / columns + eps)[:, None]
    narrow = out_ptr.dtype.element_ty
    normal = (x * scale).to(narrow).to(tl.float32)
    tl.store(out_ptr + offsets, (weight * normal).to(narrow), mask=inside)


def tiling(rows, columns):
    """Rows and columns of a tile, and its warps: up to 8192 elements, while there is a tile per multiprocessor."""
    block = triton.next_power_of_2(columns)
    together = 1
    while together * 2 * block <= 8192 and rows // (together * 2) >= 128:
        together *= 2
    return together, block, min(max(together * block // 512, 1), 16)


@torch.fx.wrap
def residual_rmsnorm(x, residual, weight, eps, narrow):
    if residual.shape != x.shape:
        residual = residual.expand_as(x)
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    total, out = torch.empty_like(x), torch.empty_like(x, dtype=narrow)
    columns = x.shape[-1]
    rows = x.numel() // columns
    together, block, warps = tiling(rows, columns)
    residual_rmsnorm_kernel[(triton.cdiv(rows, together),)](
        x, residual, weight, total, out,
        rows=rows, columns=columns, eps=eps, ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return total, out
