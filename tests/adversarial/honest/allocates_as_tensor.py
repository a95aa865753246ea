# Tries: puts a small table of constants on the device once, with torch.as_tensor.
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
def clamp_kernel(x_ptr, chosen_ptr, limits_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    chosen = tl.load(chosen_ptr + offsets, mask=inside, other=0)
    low, high = tl.load(limits_ptr), tl.load(limits_ptr + 1)
    clamped = tl.where(x < low, low, tl.where(x > high, high, x))
    tl.store(out_ptr + offsets, tl.where(chosen != 0, clamped, x), mask=inside)


LIMITS = {}


@torch.fx.wrap
def clamp_where(x, chosen):
    if x.device not in LIMITS:
        LIMITS[x.device] = torch.as_tensor([-1.0, 1.0], dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    clamp_kernel[(triton.cdiv(x.numel(), 256),)](x, chosen, LIMITS[x.device], out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return clamp_where
