# Tries: a clamp and a choice by a bool tensor, in one kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: clamp-where

import torch
import triton
import triton.language as tl


def pattern(x, chosen):
    return torch.where(chosen, torch.clamp(x, -1.0, 1.0), x)


def replacement_args(x, chosen):
    return (x, chosen)


@triton.jit
def choose_kernel(x_ptr, chosen_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    clamped = tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)
    chosen = tl.load(chosen_ptr + offsets, mask=inside, other=0).to(tl.int1)
    tl.store(out_ptr + offsets, tl.where(chosen, clamped, x), mask=inside)


@torch.fx.wrap
def chosen_or_clamped(x, chosen):
    out = torch.empty_like(x)
    choose_kernel[(triton.cdiv(x.numel(), 256),)](x, chosen, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return chosen_or_clamped
