"""Squared ReLU, the activation of Nemotron: relu(x) times itself, in one kernel."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


def pattern(x):
    positive = torch.nn.functional.relu(x)
    return torch.square(positive)


def replacement_args(x):
    return (x,)


@triton.jit
def squared_relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    # The block of this program: that with the number 2 has the offsets 2 * BLOCK to 3 * BLOCK - 1.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    # relu as eager computes it: a NaN is not below 0, so it stays a NaN.
    positive = tl.where(x < 0, 0.0, x)
    tl.store(out_ptr + offsets, positive * positive, mask=inside)


@torch.fx.wrap
def squared_relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = out.numel()
    # One program for each block of 256 elements, and one more for what remains.
    grid = (triton.cdiv(count, 256),)
    squared_relu_kernel[grid](x, out, count, BLOCK=256)
    return out


def replacement_func():
    return squared_relu
