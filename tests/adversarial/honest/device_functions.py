# Tries: a kernel made of small device functions that call each other.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: chain

import torch
import triton
import triton.language as tl


def pattern(x):
    return (torch.tanh(x * 0.5) + 1.0) * x


def replacement_args(x):
    return (x,)


@triton.jit
def logistic(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def doubled(x):
    return x + x


@triton.jit
def opened(x):
    return doubled(logistic(x)) * x


@triton.jit
def chain_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(out_ptr + offsets, opened(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


@torch.fx.wrap
def chain(x):
    out = torch.empty_like(x)
    chain_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return chain
