# Tries: two passes in one bundle, each with a kernel and a replacement of its own.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py, mean_pass.py

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


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    add_relu_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return add_relu
