# Tries: a kernel that names a constexpr of its module and calls a function of a helper module, which names one of its
#   own.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu-tanh
# Passes: gelu_pass.py

import torch
import triton
import triton.language as tl
from tanh_form import inner_term, tanh


def pattern(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def replacement_args(x):
    return (x,)


HALF = tl.constexpr(0.5)
BLOCK = 256


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside)
    tl.store(out_ptr + place, x * HALF * (1.0 + tanh(inner_term(x))), mask=inside)


@torch.fx.wrap
def gelu_tanh(x):
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), SIZE=BLOCK)
    return out


def replacement_func():
    return gelu_tanh
