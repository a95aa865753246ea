# Tries: calls contiguous() on an input that may be a transposed view, and then computes on flat memory.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: square

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x - y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def subtract_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x, y = tl.load(x_ptr + offsets, mask=inside), tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x - y, mask=inside)


@torch.fx.wrap
def subtract(x, y):
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    subtract_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out


def replacement_func():
    return subtract
