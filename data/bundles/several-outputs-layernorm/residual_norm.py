"""The sum of two tensors and its layer normalisation in one pass over the rows; the sum is written only on request."""

import torch
import triton
import triton.language as tl


@triton.jit
def residual_layernorm_kernel(
    x_ptr, residual_ptr, weight_ptr, bias_ptr, sum_ptr, out_ptr, rows, columns, eps,
    KEEP: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    offsets = row.to(tl.int64) * columns + column
    narrow = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    residual = tl.load(residual_ptr + offsets, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + column, mask=column < columns).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=column < columns).to(tl.float32)
    total = (narrow.to(tl.float32) + residual.to(tl.float32)).to(narrow.dtype)
    if KEEP:
        tl.store(sum_ptr + offsets, total, mask=inside)
    x = total.to(tl.float32)
    mean = (tl.sum(x, axis=1) / columns)[:, None]
    # the row is still in registers: the exact variance costs no second read
    centred = tl.where(inside, x - mean, 0.0)
    variance = (tl.sum(centred * centred, axis=1) / columns)[:, None]
    normal = centred * tl.rsqrt(variance + eps)
    tl.store(out_ptr + offsets, (normal * weight + bias).to(narrow.dtype), mask=inside)


def tiling(rows, columns):
    """Rows and columns of a tile, and its warps: up to 8192 elements, while there is a tile per multiprocessor."""
    block = triton.next_power_of_2(columns)
    together = 1
    while together * 2 * block <= 8192 and rows // (together * 2) >= 128:
        together *= 2
    return together, block, min(max(together * block // 512, 1), 16)


@torch.fx.wrap
def residual_layernorm(x, residual, weight, bias, eps, keep):
    if residual.shape != x.shape:
        residual = residual.expand_as(x)
    x, residual, weight, bias = x.contiguous(), residual.contiguous(), weight.contiguous(), bias.contiguous()
    out = torch.empty_like(x)
    total = torch.empty_like(x) if keep else out
    columns = x.shape[-1]
    rows = x.numel() // columns
    together, block, warps = tiling(rows, columns)
    residual_layernorm_kernel[(triton.cdiv(rows, together),)](
        x, residual, weight, bias, total, out,
        rows=rows, columns=columns, eps=eps, KEEP=keep, ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return (total, out) if keep else out
