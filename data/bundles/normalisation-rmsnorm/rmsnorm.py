"""RMS normalisation as Llama and its kin spell it, in one kernel.

Eager launches eight kernels, most of them on a float32 copy twice the size of the input. Here a program keeps whole
rows in registers: one read of the input, one write of the result. The normalised value is rounded to the narrow type
before it meets the weight, as in eager.
"""

import torch
import triton
import triton.language as tl


def pattern(x, weight, eps, narrow):
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * (wide * scale).to(dtype=narrow)


def replacement_args(x, weight, eps, narrow):
    return (x, weight, eps, narrow)


@triton.jit
def rmsnorm_kernel(x_ptr, weight_ptr, out_ptr, rows, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    offsets = row.to(tl.int64) * columns + column
    narrow = out_ptr.dtype.element_ty
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=column < columns).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / columns + eps)[:, None]
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
def rmsnorm(x, weight, eps, narrow):
    x, weight = x.contiguous(), weight.contiguous()
    out = torch.empty_like(x, dtype=narrow)
    columns = x.shape[-1]
    rows = x.numel() // columns
    together, block, warps = tiling(rows, columns)
    rmsnorm_kernel[(triton.cdiv(rows, together),)](
        x, weight, out,
        rows=rows, columns=columns, eps=eps, ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return out


def replacement_func():
    return rmsnorm
