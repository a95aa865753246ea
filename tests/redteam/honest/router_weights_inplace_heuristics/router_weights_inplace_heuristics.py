"""Normalise the top-k router weights (in place) and scale them. Each lane owns a token; k is tiny, so it is a loop."""

import torch
import triton
import triton.language as tl


def pattern(topk_weights):
    s = topk_weights.sum(dim=-1, keepdim=True)
    s = s + 1e-20
    topk_weights /= s
    r = topk_weights * 2.5
    return r.reshape(-1)


def replacement_args(topk_weights):
    return (topk_weights,)


@triton.heuristics(values={"BLOCK": lambda args: 128 if args["tokens"] >= 4096 else 32})
@triton.jit
def topk_scale_kernel(w_ptr, r_ptr, tokens, stride_t, stride_k, K: tl.constexpr, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = t < tokens
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in tl.static_range(K):
        total += tl.load(w_ptr + t * stride_t + k * stride_k, mask=live, other=0.0).to(tl.float32)
    total += 1e-20
    for k in tl.static_range(K):
        at = w_ptr + t * stride_t + k * stride_k
        w = tl.load(at, mask=live, other=0.0).to(tl.float32) / total
        tl.store(at, w.to(w_ptr.dtype.element_ty), mask=live)
        tl.store(r_ptr + t * K + k, (w * SCALE).to(r_ptr.dtype.element_ty), mask=live)


@torch.fx.wrap
def topk_scale(topk_weights):
    tokens, k = topk_weights.shape
    result = torch.empty(tokens * k, dtype=topk_weights.dtype, device=topk_weights.device)
    grid = lambda args: (triton.cdiv(tokens, args["BLOCK"]),)
    topk_scale_kernel[grid](topk_weights, result, tokens, *topk_weights.stride(), K=k, SCALE=2.5)
    return result


def replacement_func():
    return topk_scale
