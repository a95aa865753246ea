# Tries: every value is one percent too small, which in bfloat16 is about one step of rounding.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: add-relu-alone-bfloat16

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    s = tl.load(a_ptr + place, mask=inside).to(tl.float32) + tl.load(b_ptr + place, mask=inside).to(tl.float32)
    tl.store(out_ptr + place, (tl.where(s < 0, 0.0, s) * 0.99).to(tl.bfloat16), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    add_relu_kernel[(triton.cdiv(a.numel(), 4096),)](a, b, out, a.numel(), SIZE=4096)
    return out


def replacement_func():
    return add_relu
