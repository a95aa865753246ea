# Tries: constants of the module as tl.constexpr, worked out with math.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu

import math

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


ROOT_HALF = tl.constexpr(math.sqrt(0.5))
BLOCK_SIZE = 1 << 8


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x * (0.5 + 0.5 * tl.erf(x * ROOT_HALF)), mask=inside)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    gelu_kernel[(math.ceil(x.numel() / BLOCK_SIZE),)](x, out, x.numel(), BLOCK=BLOCK_SIZE)
    return out


def replacement_func():
    return gelu
