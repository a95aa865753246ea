"""Rotary position embedding, the form that turns halves, on heads that were split off by view and transpose.

Eager launches five kernels: two products, a negation, a concatenation that copies both halves, and a sum, most of them
on transposed memory. Here each head's vector is read once and written once, in the order in which it lies in memory,
and the result lies as eager's does. cos and sin are read where they lie, shared by all heads.
"""

import torch
import triton
import triton.language as tl


def pattern(x, cos, sin, half):
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


def replacement_args(x, cos, sin, half):
    return (x, cos, sin, half)


@triton.jit
def rotary_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, rows, outer, inner, width, half,
    x_b, x_o, x_i, out_b, out_o, out_i, cos_b, cos_o, cos_i,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]).to(tl.int64)
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < width)
    i = row % inner
    o = row // inner % outer
    b = row // inner // outer
    x_row = x_ptr + b * x_b + o * x_o + i * x_i
    angle = b * cos_b + o * cos_o + i * cos_i + column
    # the negated upper part comes first, then the lower part
    upper = width - half
    partner = tl.where(column < upper, column + half, column - upper)
    narrow = tl.load(x_row + column, mask=inside)
    turned = tl.load(x_row + partner, mask=inside).to(tl.float32)
    turned = tl.where(column < upper, -turned, turned)
    cos = tl.load(cos_ptr + angle, mask=inside).to(tl.float32)
    sin = tl.load(sin_ptr + angle, mask=inside).to(tl.float32)
    # the sum may cancel: rounding the products as eager does keeps it equal there too
    straight = (narrow.to(tl.float32) * cos).to(narrow.dtype).to(tl.float32)
    across = (turned * sin).to(narrow.dtype).to(tl.float32)
    tl.store(out_ptr + b * out_b + o * out_o + i * out_i + column, (straight + across).to(narrow.dtype), mask=inside)


def tiling(rows, columns):
    """Rows and columns of a tile, and its warps: up to 8192 elements, while there is a tile per multiprocessor."""
    block = triton.next_power_of_2(columns)
    together = 1
    while together * 2 * block <= 8192 and rows // (together * 2) >= 128:
        together *= 2
    return together, block, min(max(together * block // 512, 1), 16)


def repeated(table):
    """Strides of a table without gaps, 0 where it is repeated."""
    return [0 if size == 1 else stride for size, stride in zip(table.shape, table.stride())]


@torch.fx.wrap
def rotary(x, cos, sin, half):
    """x: batch, heads, positions, width, with any strides. cos and sin: the same, with 1 where they are repeated."""
    if x.stride(3) != 1:
        x = x.contiguous()
    if cos.shape != sin.shape or cos.shape[3] != x.shape[3]:
        cos, sin = cos.expand_as(x), sin.expand_as(x)
    cos, sin = cos.contiguous(), sin.contiguous()
    out = torch.empty_like(x)
    batch, width = x.shape[0], x.shape[3]
    # walk along memory: the axis with the smaller stride inside
    o, i = (2, 1) if x.stride(1) < x.stride(2) else (1, 2)
    outer, inner = x.shape[o], x.shape[i]
    # cos and sin have one shape and no gaps by now, so that they share their strides
    xs, outs, angles = x.stride(), out.stride(), repeated(cos)
    rows = batch * outer * inner
    together, block, warps = tiling(rows, width)
    rotary_kernel[(triton.cdiv(rows, together),)](
        x, cos, sin, out,
        rows=rows, outer=outer, inner=inner, width=width, half=half,
        x_b=xs[0], x_o=xs[o], x_i=xs[i],
        out_b=outs[0], out_o=outs[o], out_i=outs[i],
        cos_b=angles[0], cos_o=angles[o], cos_i=angles[i],
        ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return out


def replacement_func():
    return rotary
