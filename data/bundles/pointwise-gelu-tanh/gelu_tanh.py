"""GELU by tanh, written out in nine operations as BLOOM does, in one kernel.

Eager launches nine kernels, each of which reads and writes the whole tensor. Here it is read once and written once.
The order and the roundings of eager are kept; tanh is made of one exponential.
"""

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
def gelu_tanh_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    narrow = tl.load(x_ptr + offsets, mask=inside)
    kind = narrow.dtype
    x = narrow.to(tl.float32)
    half = (x * 0.5).to(kind).to(tl.float32)
    scaled = (0.79788456 * x).to(kind).to(tl.float32)
    square = ((0.044715 * x).to(kind).to(tl.float32) * x).to(kind).to(tl.float32)
    bent = (1.0 + square).to(kind).to(tl.float32)
    inner = (scaled * bent).to(kind).to(tl.float32)
    # tanh, in the form that is exact where it nears -1 and 1 + tanh cancels
    curve = (2.0 / (1.0 + tl.exp(-2.0 * inner)) - 1.0).to(kind).to(tl.float32)
    gate = (1.0 + curve).to(kind).to(tl.float32)
    tl.store(out_ptr + offsets, (half * gate).to(kind), mask=inside)


@torch.fx.wrap
def gelu_tanh(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    block = min(max(triton.next_power_of_2(count // 256), 1024), 8192)
    gelu_tanh_kernel[(triton.cdiv(count, block),)](x, out, count=count, BLOCK=block, num_warps=block // 512)
    return out


def replacement_func():
    return gelu_tanh
