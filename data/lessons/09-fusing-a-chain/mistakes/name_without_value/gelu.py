"""GELU by tanh, written out in nine operations as BLOOM does, in one launch."""

import torch
import triton
import triton.language as tl


def pattern(x):
    half = x * 0.5
    scaled = 0.79788456 * x
    bent = 1 + 0.044715 * x * x
    return half * (1.0 + torch.tanh(scaled * bent))


def replacement_args(x):
    return (x,)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    dtype = out_ptr.dtype.element_ty
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    # Eager rounds after every operation, and so does this chain. It does so in registers, which costs no bytes.
    scaled = (0.79788456 * x).to(dtype).to(tl.float32)
    square = ((0.044715 * x).to(dtype).to(tl.float32) * x).to(dtype).to(tl.float32)
    bent = (1.0 + square).to(dtype).to(tl.float32)
    # tanh, made of one exponential
    curve = (2.0 / (1.0 + tl.exp(-2.0 * inner)) - 1.0).to(dtype).to(tl.float32)
    gate = (1.0 + curve).to(dtype).to(tl.float32)
    half = (x * 0.5).to(dtype).to(tl.float32)
    tl.store(out_ptr + offsets, (half * gate).to(dtype), mask=inside)


@torch.fx.wrap
def gelu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return out


def replacement_func():
    return gelu
