# Tries: GELU's tanh form with tanh of the device's own library of functions.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu-tanh

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def replacement_args(x):
    return (x,)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + libdevice.tanh(inner)), mask=inside)


@torch.fx.wrap
def gelu_tanh(x):
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def replacement_func():
    return gelu_tanh
