import torch
import triton
import triton.language as tl


def pattern(attn, bias, p):
    x = attn + bias
    x = torch.nn.functional.softmax(x, dim=-1)
    x = torch.nn.functional.dropout(x, p=p, training=False)
    return x


def replacement_args(attn, bias, p):
    return (attn, bias)


@triton.jit
def online_softmax_kernel(
    a_ptr, b_ptr, o_ptr, n_rows, n_cols, heads, queries,
    sb0, sb1, sb2,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_ok = row < n_rows
    q = row % queries
    h = (row // queries) % heads
    n = row // (queries * heads)
    a_row = a_ptr + row[:, None].to(tl.int64) * n_cols
    b_row = b_ptr + (n * sb0 + h * sb1 + q * sb2)[:, None]
    o_row = o_ptr + row[:, None].to(tl.int64) * n_cols

    m_i = tl.full([ROWS], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        ok = row_ok[:, None] & (cols < n_cols)[None, :]
        x = tl.load(a_row + cols[None, :], mask=ok, other=float("-inf")).to(tl.float32)
        x += tl.load(b_row + cols[None, :], mask=ok, other=0.0).to(tl.float32)
        m_new = tl.maximum(m_i, tl.max(x, axis=1))
        # a row may so far consist of -inf only: -inf - -inf would be NaN
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        l_i = l_i * tl.exp(m_i - m_safe) + tl.sum(tl.exp(x - m_safe[:, None]), axis=1)
        m_i = m_new
    m_safe = tl.where(m_i == float("-inf"), 0.0, m_i)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        ok = row_ok[:, None] & (cols < n_cols)[None, :]
        x = tl.load(a_row + cols[None, :], mask=ok, other=float("-inf")).to(tl.float32)
        x += tl.load(b_row + cols[None, :], mask=ok, other=0.0).to(tl.float32)
        y = tl.exp(x - m_safe[:, None]) / l_i[:, None]
        tl.store(o_row + cols[None, :], y.to(o_ptr.dtype.element_ty), mask=ok)


@torch.fx.wrap
def biased_softmax(attn, bias):
    attn = attn.contiguous()
    _, heads, queries, n_cols = attn.shape
    bias = bias.expand_as(attn)
    if bias.stride(-1) != 1:
        bias = bias.contiguous()
    n_rows = attn.numel() // n_cols
    out = torch.empty_like(attn)
    ROWS = 4
    online_softmax_kernel[(triton.cdiv(n_rows, ROWS),)](
        attn, bias, out, n_rows, n_cols, heads, queries, bias.stride(0), bias.stride(1), bias.stride(2),
        ROWS=ROWS, BLOCK=32,
    )
    return out


def replacement_func():
    return biased_softmax
