# Tries: four operations of a chain, with a constant on each side, in one kernel.
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
def chain_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    # 1 + tanh(x / 2) is twice the logistic function, which does not cancel where tanh nears -1
    tl.store(out_ptr + offsets, 2.0 * tl.sigmoid(x) * x, mask=inside)


@torch.fx.wrap
def chain(x):
    out = torch.empty_like(x)
    chain_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    return out


def replacement_func():
    return chain
