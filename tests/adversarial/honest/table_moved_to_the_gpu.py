# Tries: a number that it adds is made on the CPU and moved to the GPU.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu

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
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


@triton.jit
def shifted_kernel(a_ptr, b_ptr, zero_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside) + tl.load(zero_ptr)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    zero = torch.tensor([0.0], dtype=a.dtype).to(a.device)
    out = torch.empty_like(a)
    shifted_kernel[(triton.cdiv(a.numel(), 512),)](a, b, zero, out, a.numel(), BLOCK=512)
    return out


def replacement_func():
    return add_relu
