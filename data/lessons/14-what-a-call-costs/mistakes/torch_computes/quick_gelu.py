"""CLIP's activation, x * sigmoid(1.702 * x), in one kernel, with as little work around it as a call needs."""

import torch
import triton
import triton.language as tl


def pattern(x):
    return x * torch.sigmoid(1.702 * x)


def replacement_args(x):
    return (x,)


@triton.jit
def quick_gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    wide = x.to(tl.float32)
    # eager rounds after every operation
    scaled = (wide * 1.702).to(x.dtype).to(tl.float32)
    gate = tl.sigmoid(scaled).to(x.dtype).to(tl.float32)
    tl.store(out_ptr + offsets, (wide * gate).to(x.dtype), mask=inside)


@torch.fx.wrap
def quick_gelu(x):
    # no copy where x is contiguous already
    x = x.contiguous()
    # the kernel writes every element, so nothing need be filled before
    out = torch.empty_like(x)
    count = x.numel()
    quick_gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return x * torch.sigmoid(1.702 * x)


def replacement_func():
    return quick_gelu
