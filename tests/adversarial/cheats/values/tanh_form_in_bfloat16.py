# Tries: GELU by its tanh form for the exact one, in a dtype whose rounding is coarser than what they differ by.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: gelu-bfloat16

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside, other=0.0).to(tl.float32)
    inner = x * (0.7978845608028654 + 0.035677408136300125 * x * x)
    tl.store(out_ptr + place, (0.5 * x * (1.0 + libdevice.tanh(inner))).to(tl.bfloat16), mask=inside)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), SIZE=4096)
    return out


def replacement_func():
    return gelu
