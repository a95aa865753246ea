import torch
import triton
import triton.language as tl


def pattern(idx, emb, qk, attn_mask, p):
    pos = torch.nn.functional.embedding(idx, emb, None, None, 2.0, False, False)
    pos = pos.permute([2, 0, 1]).unsqueeze(0)
    x = (qk + pos) + attn_mask
    x = torch.nn.functional.softmax(x, dim=-1)
    return torch.nn.functional.dropout(x, p=p, training=False)


def replacement_args(idx, emb, qk, attn_mask, p):
    return (idx, emb, qk, attn_mask)


@triton.jit
def _round_like(x, ref):
    return x.to(ref.dtype).to(tl.float32)


@triton.jit
def _softmax(x):
    shifted = x - tl.max(x, axis=1, keep_dims=True)
    numerator = tl.exp(shifted)
    return numerator / tl.sum(numerator, axis=1, keep_dims=True)


@triton.jit
def relative_softmax_kernel(
    idx_ptr, emb_ptr, qk_ptr, mask_ptr, out_ptr, heads, q_len, k_len,
    m0, m1, m2, m3, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):
    head = tl.program_id(1) % heads
    batch = tl.program_id(1) // heads
    q = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)[:, None]
    k = tl.arange(0, BLOCK_K)[None, :]
    inside = (q < q_len) & (k < k_len)
    at = (tl.program_id(1) * q_len + q) * k_len + k
    raw = tl.load(qk_ptr + at, mask=inside, other=0.0)
    index = tl.load(idx_ptr + q * k_len + k, mask=inside, other=0)
    pos = tl.load(emb_ptr + index * heads + head, mask=inside, other=0.0).to(tl.float32)
    mask = tl.load(mask_ptr + batch * m0 + head * m1 + q * m2 + k * m3, mask=inside, other=0.0).to(tl.float32)
    x = _round_like(raw.to(tl.float32) + pos, raw)
    x = _round_like(x + mask, raw)
    x = tl.where(k < k_len, x, float("-inf"))
    tl.store(out_ptr + at, _softmax(x).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def relative_softmax(idx, emb, qk, attn_mask):
    idx, emb, qk = idx.contiguous(), emb.contiguous(), qk.contiguous()
    batch, heads, q_len, k_len = qk.shape
    attn_mask = attn_mask.expand(qk.shape)
    out = torch.empty(qk.shape, dtype=qk.dtype, device=qk.device)
    block_q = 16
    relative_softmax_kernel[(triton.cdiv(q_len, block_q), batch * heads)](
        idx, emb, qk, attn_mask, out, heads, q_len, k_len, *attn_mask.stride(),
        BLOCK_Q=block_q, BLOCK_K=triton.next_power_of_2(k_len),
    )
    return out


def replacement_func():
    return relative_softmax
