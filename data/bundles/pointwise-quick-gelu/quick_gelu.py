"""x * sigmoid(1.702 * x), CLIP's activation, in one kernel.

Eager launches three kernels and moves the tensor through memory six times (twice read and once written for the last
product alone). Here it is read once and written once, so the time is close to what copying it takes. Intermediate
results are rounded where eager rounds them, which costs no memory traffic and keeps the values equal.
"""

import torch
import triton
import triton.language as tl


def pattern(x):
    return x * torch.sigmoid(1.702 * x)


def replacement_args(x):
    return (x,)


@triton.jit
def quick_gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    wide = x.to(tl.float32)
    slope = (wide * 1.702).to(x.dtype).to(tl.float32)
    gate = tl.sigmoid(slope).to(x.dtype).to(tl.float32)
    tl.store(out_ptr + offsets, (wide * gate).to(x.dtype), mask=inside)


@torch.fx.wrap
def quick_gelu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    # some 256 programs for small tensors, so that every multiprocessor has work; then as many as it takes
    block = min(max(triton.next_power_of_2(count // 256), 1024), 8192)
    quick_gelu_kernel[(triton.cdiv(count, block),)](x, out, count=count, BLOCK=block, num_warps=block // 512)
    return out


def replacement_func():
    return quick_gelu
