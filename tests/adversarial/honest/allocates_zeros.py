# Tries: accumulates with atomics into torch.zeros; float32, so that the order hardly matters.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: total

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum()


def replacement_args(x):
    return (x,)


@triton.jit
def total_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x))


@torch.fx.wrap
def total(x):
    out = torch.zeros((), dtype=x.dtype, device=x.device)
    total_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    return out


def replacement_func():
    return total
