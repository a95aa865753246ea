import torch
import triton
import triton.language as tl


def pattern(query, key, value):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def replacement_args(query, key, value):
    return (query, key, value)


@triton.jit
def causal_attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, seq, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    block = tl.program_id(0)
    base = tl.program_id(1) * seq * D
    q_block = tl.make_block_ptr(
        base=q_ptr + base, shape=(seq, D), strides=(D, 1), offsets=(block * BLOCK_M, 0),
        block_shape=(BLOCK_M, D), order=(1, 0),
    )
    k_block = tl.make_block_ptr(
        base=k_ptr + base, shape=(D, seq), strides=(1, D), offsets=(0, 0), block_shape=(D, BLOCK_N), order=(0, 1)
    )
    v_block = tl.make_block_ptr(
        base=v_ptr + base, shape=(seq, D), strides=(D, 1), offsets=(0, 0), block_shape=(BLOCK_N, D), order=(1, 0)
    )
    o_block = tl.make_block_ptr(
        base=o_ptr + base, shape=(seq, D), strides=(D, 1), offsets=(block * BLOCK_M, 0),
        block_shape=(BLOCK_M, D), order=(1, 0),
    )
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    end = tl.minimum((block + 1) * BLOCK_M, seq)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_block, boundary_check=(1,), padding_option="zero")
        scores = tl.dot(q, k, input_precision="ieee") * scale
        keep = (cols[None, :] <= rows[:, None]) & (cols < seq)[None, :]
        scores = tl.where(keep, scores, float("-inf"))
        # column 0 is kept in every row, so that m is a number from the first turn on
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        alpha = tl.exp(m - m_new)
        p = tl.exp(scores - m_new[:, None])
        l = l * alpha + tl.sum(p, axis=1)
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m = m_new
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    acc = acc / l[:, None]
    tl.store(o_block, acc.to(o_ptr.dtype.element_ty), boundary_check=(0,))


@torch.fx.wrap
def causal_attention(query, key, value):
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    batch, heads, seq, d = query.shape
    assert d in (16, 32, 64, 128)
    out = torch.empty_like(query)
    grid = (triton.cdiv(seq, 16), batch * heads)
    causal_attention_kernel[grid](query, key, value, out, seq, d**-0.5, D=d, BLOCK_M=16, BLOCK_N=16)
    return out


def replacement_func():
    return causal_attention
