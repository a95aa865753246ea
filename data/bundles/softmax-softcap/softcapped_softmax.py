"""Gemma-2's attention weights: scale, cap by tanh, mask, softmax in float32, narrow type, idle dropout, in one kernel.

Eager launches eight kernels on the scores, the largest tensor of the layer, two of them on a float32 copy. Here the
scores are read once and the weights written once; the mask is read where it lies, without being repeated per head.
"""

import torch
import triton
import triton.language as tl


def pattern(scores, mask, scale, cap, narrow, p):
    capped = torch.tanh(scores * scale / cap) * cap
    weights = torch.nn.functional.softmax(capped + mask, dim=-1, dtype=torch.float32)
    return torch.nn.functional.dropout(weights.to(dtype=narrow), p, False)


def replacement_args(scores, mask, scale, cap, narrow, p):
    return (scores, mask, scale, cap, narrow)


@triton.jit
def rounded(value, like):
    return value.to(like.dtype).to(tl.float32)


@triton.jit
def tanh(y):
    shrunk = tl.exp(-2.0 * tl.abs(y))
    far = (1.0 - shrunk) / (1.0 + shrunk)
    square = y * y
    # near zero the quotient cancels: the series does not
    near = y * (1.0 + square * (-0.33333333 + square * (0.13333333 + square * (-0.053968254 + square * 0.021869488))))
    return tl.where(tl.abs(y) < 0.25, near, tl.where(y < 0, -far, far))


@triton.jit
def softcapped_softmax_kernel(
    scores_ptr, mask_ptr, out_ptr, rows, columns, heads, queries, scale, cap, mask_b, mask_h, mask_q,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]).to(tl.int64)
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    mask_row = row // queries // heads * mask_b + row // queries % heads * mask_h + row % queries * mask_q
    like = tl.load(scores_ptr + row * columns + column, mask=inside, other=0.0)
    mask = tl.load(mask_ptr + mask_row + column, mask=inside, other=0.0).to(tl.float32)
    x = rounded(rounded(like.to(tl.float32) * scale, like) / cap, like)
    x = rounded(rounded(tanh(x), like) * cap, like)
    x = tl.where(column < columns, rounded(x + mask, like), float("-inf"))
    weights = tl.exp(x - tl.max(x, axis=1)[:, None])
    shares = weights / tl.sum(weights, axis=1)[:, None]
    tl.store(out_ptr + row * columns + column, shares.to(out_ptr.dtype.element_ty), mask=inside)


def tiling(rows, columns):
    """Rows and columns of a tile, and its warps: up to 8192 elements, while there is a tile per multiprocessor."""
    block = triton.next_power_of_2(columns)
    together = 1
    while together * 2 * block <= 8192 and rows // (together * 2) >= 128:
        together *= 2
    return together, block, min(max(together * block // 512, 1), 16)


@torch.fx.wrap
def softcapped_softmax(scores, mask, scale, cap, narrow):
    scores = scores.contiguous()
    out = torch.empty_like(scores, dtype=narrow)
    if mask.shape[-1:] != scores.shape[-1:] or mask.stride(-1) != 1:
        mask = mask.expand_as(scores).contiguous()
    _, heads, queries, columns = scores.shape
    rows = scores.numel() // columns
    together, block, warps = tiling(rows, columns)
    # the mask is read where it lies: strides are 0 where it is repeated
    mask_b, mask_h, mask_q, _ = mask.expand_as(scores).stride()
    softcapped_softmax_kernel[(triton.cdiv(rows, together),)](
        scores, mask, out,
        rows=rows, columns=columns, heads=heads, queries=queries, scale=scale, cap=cap,
        mask_b=mask_b, mask_h=mask_h, mask_q=mask_q, ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return out


def replacement_func():
    return softcapped_softmax
