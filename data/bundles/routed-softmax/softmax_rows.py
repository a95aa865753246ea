"""Softmax over the last axis of attention scores, with what stands before it: one kernel for all the spellings."""

import torch
import triton
import triton.language as tl


@triton.jit
def term(pointer, batch, head, query, column, strides_b, strides_h, strides_q, inside):
    offsets = batch * strides_b + head * strides_h + query * strides_q + column
    return tl.load(pointer + offsets, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def softmax_kernel(
    scores_ptr, first_ptr, second_ptr, out_ptr, rows, columns, heads, queries, scale,
    first_b, first_h, first_q, second_b, second_h, second_q,
    TERMS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]).to(tl.int64)
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    query = row % queries
    head = row // queries % heads
    batch = row // queries // heads
    narrow = tl.load(scores_ptr + row * columns + column, mask=inside, other=0.0)
    # eager rounds after each step; for masks near the end of float16's range this decides between finite and infinite
    x = (narrow.to(tl.float32) * scale).to(narrow.dtype).to(tl.float32)
    if TERMS >= 1:
        x += term(first_ptr, batch, head, query, column, first_b, first_h, first_q, inside)
        x = x.to(narrow.dtype).to(tl.float32)
    if TERMS >= 2:
        x += term(second_ptr, batch, head, query, column, second_b, second_h, second_q, inside)
        x = x.to(narrow.dtype).to(tl.float32)
    x = tl.where(column < columns, x, float("-inf"))
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


def in_rows(scores, added):
    """The added tensor in rows without gaps."""
    if added.shape[-1] != scores.shape[-1]:
        added = added.expand(*added.shape[:-1], scores.shape[-1])
    return added.contiguous()


def reach(added):
    """Strides of an added tensor over batch, heads and queries: 0 where it is repeated."""
    shape, strides = added.shape, added.stride()
    missing = 4 - len(shape)
    return [0 if i < missing or shape[i - missing] == 1 else strides[i - missing] for i in range(3)]


ADDED = {"scaled": 0, "scaled, one added": 1, "scaled, two added": 2}


@torch.fx.wrap
def softmax_rows(scores, scale, first, second, dtype, route):
    """scores: batch, heads, queries, keys. first and second are read only as far as the route says.

    dtype: of the result, None: that of the scores.
    """
    terms = ADDED[route]
    scores = scores.contiguous()
    first = in_rows(scores, first) if terms >= 1 else scores
    second = in_rows(scores, second) if terms >= 2 else scores
    out = torch.empty_like(scores, dtype=dtype)
    _, heads, queries, columns = scores.shape
    rows = scores.numel() // columns
    (first_b, first_h, first_q), (second_b, second_h, second_q) = reach(first), reach(second)
    together, block, warps = tiling(rows, columns)
    softmax_kernel[(triton.cdiv(rows, together),)](
        scores, first, second, out,
        rows=rows, columns=columns, heads=heads, queries=queries, scale=scale,
        first_b=first_b, first_h=first_h, first_q=first_q,
        second_b=second_b, second_h=second_h, second_q=second_q,
        TERMS=terms, ROWS=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return out
