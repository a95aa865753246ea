# Tries: GELU by the error function, in one kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


INVERSE_ROOT_OF_TWO = tl.constexpr(0.7071067811865476)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * INVERSE_ROOT_OF_TWO)), mask=inside)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return gelu
