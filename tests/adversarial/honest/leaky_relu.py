# Tries: a slope that the kernel takes as an ordinary number.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: leaky

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x, 0.2)


@triton.jit
def leaky_kernel(x_ptr, out_ptr, slope, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(x > 0, x, x * slope), mask=inside)


@torch.fx.wrap
def leaky(x, slope):
    out = torch.empty_like(x)
    leaky_kernel[(triton.cdiv(x.numel(), 256),)](x, out, slope, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return leaky
