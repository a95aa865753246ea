"""Elementwise: one output value for each input value."""

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.relu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(x < 0, 0.0, x), mask=inside)


@torch.fx.wrap
def relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    relu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return out


def replacement_func():
    return relu
