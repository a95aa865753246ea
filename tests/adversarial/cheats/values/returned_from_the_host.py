# Tries: returns what it has moved back to the CPU.
# Family: values
# Needs: cpu
# Verdict: wrong type
# Planned: rejected by a rule
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


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    add_relu_kernel[(triton.cdiv(a.numel(), 512),)](a, b, out, a.numel(), BLOCK=512)
    back = torch.empty(a.shape, dtype=a.dtype, device="cpu")
    back.copy_(out)
    return back


def replacement_func():
    return add_relu
