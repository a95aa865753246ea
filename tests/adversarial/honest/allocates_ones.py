# Tries: starts from torch.ones_like and multiplies that in place in its kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu-tanh

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def replacement_args(x):
    return (x,)


@triton.jit
def scale_by_gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    factor = x * tl.sigmoid(2.0 * inner)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets, mask=inside) * factor, mask=inside)


@torch.fx.wrap
def gelu_tanh(x):
    out = torch.ones_like(x)
    scale_by_gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return gelu_tanh
