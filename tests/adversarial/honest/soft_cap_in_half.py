# Tries: the device's tanh, which takes float32 only, between conversions from and to float16: one rounding where
#   eager has three.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: soft-cap-half

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    return torch.tanh(x / 30.0) * 30.0


def replacement_args(x):
    return (x,)


@triton.jit
def soft_cap_kernel(x_ptr, out_ptr, count, CAP: tl.constexpr, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside, other=0.0).to(tl.float32)
    capped = libdevice.tanh(x / CAP) * CAP
    tl.store(out_ptr + place, capped.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def soft_cap(x):
    out = torch.empty_like(x)
    soft_cap_kernel[(triton.cdiv(x.numel(), 2048),)](x, out, x.numel(), CAP=30.0, SIZE=2048)
    return out


def replacement_func():
    return soft_cap
