# Tries: saves the memory of a buffer: a first kernel leaves sums in its argument and the argument in the output, a
#   second one puts both where they belong.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: add-relu-alone

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def lend_kernel(a_ptr, b_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    a = tl.load(a_ptr + place, mask=inside)
    tl.store(out_ptr + place, a, mask=inside)
    tl.store(a_ptr + place, a + tl.load(b_ptr + place, mask=inside), mask=inside)


@triton.jit
def return_kernel(a_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    s = tl.load(a_ptr + place, mask=inside)
    tl.store(a_ptr + place, tl.load(out_ptr + place, mask=inside), mask=inside)
    tl.store(out_ptr + place, tl.where(s < 0, 0.0, s), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    grid = (triton.cdiv(count, 256),)
    lend_kernel[grid](a, b, out, count, SIZE=256)
    return_kernel[grid](a, out, count, SIZE=256)
    return out


def replacement_func():
    return add_relu
