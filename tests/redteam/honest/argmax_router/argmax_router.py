"""Top-1 routing: argmax over a handful of experts for each token.

With 8 experts a program per token would waste the GPU, so each program handles a tile of tokens.
"""

import torch
import triton
import triton.language as tl


def pattern(router_probs):
    expert = torch.argmax(router_probs, dim=-1)
    return expert


def replacement_args(router_probs):
    return (router_probs,)


@triton.jit
def top1_kernel(p_ptr, out_ptr, tokens, experts, TOKENS: tl.constexpr, EXPERTS: tl.constexpr):
    t = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    e = tl.arange(0, EXPERTS)
    mask = (t < tokens)[:, None] & (e < experts)[None, :]
    p = tl.load(p_ptr + t[:, None] * experts + e[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    bad = p != p
    best = tl.max(tl.where(bad, float("-inf"), p), axis=1)
    column = tl.broadcast_to(e[None, :], (TOKENS, EXPERTS))
    first_best = tl.min(tl.where((p == best[:, None]) & mask, column, EXPERTS), axis=1)
    first_nan = tl.min(tl.where(bad, column, EXPERTS), axis=1)
    idx = tl.where(first_nan < EXPERTS, first_nan, first_best)
    tl.store(out_ptr + t, idx.to(tl.int64), mask=t < tokens)


@torch.fx.wrap
def top1_expert(router_probs):
    probs = router_probs.contiguous()
    experts = probs.shape[-1]
    out = torch.empty(probs.shape[:-1], dtype=torch.long, device=probs.device)
    tokens = out.numel()
    top1_kernel[(triton.cdiv(tokens, 32),)](
        probs, out, tokens, experts, TOKENS=32, EXPERTS=triton.next_power_of_2(experts)
    )
    return out


def replacement_func():
    return top1_expert
