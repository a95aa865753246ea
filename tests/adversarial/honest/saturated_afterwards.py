# Tries: a pass whose result the rest of the graph saturates, so that memory which nobody has written gives the right
#   values where it holds large numbers.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: saturated

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    a = tl.load(a_ptr + offsets, mask=inside)
    b = tl.load(b_ptr + offsets, mask=inside)
    total = a + b
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[(triton.cdiv(count, 256),)](a, b, out, count, BLOCK=256)
    return out


def replacement_func():
    return add_relu
