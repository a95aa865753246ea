"""The product of a gate's silu and its partner, whether both are tensors of their own or halves of one."""

import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, columns, row_stride, tiles, BLOCK: tl.constexpr):
    row = tl.program_id(0) // tiles
    column = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    start = row.to(tl.int64) * row_stride
    gate = tl.load(gate_ptr + start + column, mask=inside)
    up = tl.load(up_ptr + start + column, mask=inside)
    wide = gate.to(tl.float32)
    opened = (wide * tl.sigmoid(wide)).to(gate.dtype).to(tl.float32)
    product = opened * up.to(tl.float32)
    tl.store(out_ptr + row.to(tl.int64) * columns + column, product.to(gate.dtype), mask=inside)


def multiply(gate, up, out, rows, columns, row_stride):
    """gate and up: rows of so many columns, row_stride elements apart; out: the same rows without gaps."""
    block = min(triton.next_power_of_2(columns), max(triton.next_power_of_2(rows * columns // 256), 1024), 8192)
    tiles = triton.cdiv(columns, block)
    swiglu_kernel[(rows * tiles,)](
        gate, up, out,
        columns=columns, row_stride=row_stride, tiles=tiles, BLOCK=block,
        num_warps=max(1, block // 512),
    )  # fmt: skip


@torch.fx.wrap
def swiglu(gate, up):
    if up.shape != gate.shape:
        up = up.expand_as(gate)
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    multiply(gate, up, out, 1, gate.numel(), 0)
    return out


@torch.fx.wrap
def swiglu_of_halves(both):
    both = both.contiguous()
    width = both.shape[-1]
    half = (width + 1) // 2
    out = torch.empty((*both.shape[:-1], half), dtype=both.dtype, device=both.device)
    multiply(both, both[..., half:], out, both.numel() // width, half, width)
    return out
