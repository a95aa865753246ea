# Tries: a comparison whose output is a bool tensor.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: greater

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return (a + b) > 0.5


def replacement_args(a, b):
    return (a, b)


@triton.jit
def greater_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, total > 0.5, mask=inside)


@torch.fx.wrap
def sum_is_greater(a, b):
    out = torch.empty(a.shape, dtype=torch.bool, device=a.device)
    greater_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return sum_is_greater
