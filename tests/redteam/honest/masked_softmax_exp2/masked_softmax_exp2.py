"""softmax(scores + mask) fused into one kernel. Uses exp2 with log2(e) folded in, which maps to one instruction."""

import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    biased = scores + mask
    probs = torch.nn.functional.softmax(biased, dim=-1)
    return torch.nn.functional.dropout(probs, p=0.0, training=False)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def masked_softmax_kernel(
    s_ptr, m_ptr, o_ptr, H, Q, K,
    s_b, s_h, s_q, s_k,
    m_b, m_h, m_q, m_k,
    BLOCK_K: tl.constexpr,
):
    LOG2E: tl.constexpr = 1.4426950408889634
    pid = tl.program_id(0)
    q = pid % Q
    h = (pid // Q) % H
    b = pid // (Q * H)
    k = tl.arange(0, BLOCK_K)
    valid = k < K
    s = tl.load(s_ptr + b * s_b + h * s_h + q * s_q + k * s_k, mask=valid, other=float("-inf")).to(tl.float32)
    m = tl.load(m_ptr + b * m_b + h * m_h + q * m_q + k * m_k, mask=valid, other=0.0).to(tl.float32)
    z = s + m
    z = z - tl.max(z, axis=0)
    e = tl.exp2(z * LOG2E)
    p = e / tl.sum(e, axis=0)
    tl.store(o_ptr + pid * K + k, p.to(o_ptr.dtype.element_ty), mask=valid)


@torch.fx.wrap
def masked_softmax(scores, mask):
    B, H, Q, K = scores.shape
    mask = mask.expand(B, H, Q, K)  # stride 0 on broadcast axes, no copy
    out = torch.empty((B, H, Q, K), dtype=scores.dtype, device=scores.device)
    masked_softmax_kernel[(B * H * Q,)](
        scores, mask, out, H, Q, K, *scores.stride(), *mask.stride(), BLOCK_K=triton.next_power_of_2(K), num_warps=1
    )
    return out


def replacement_func():
    return masked_softmax
