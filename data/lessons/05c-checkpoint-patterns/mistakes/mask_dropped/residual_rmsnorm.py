"""The residual sum and its RMS normalisation, as in Llama: one kernel with two results."""

import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, eps, dtype):
    """Describe the graph, so that it matches for every eps and every dtype."""
    total = x + residual
    wide = total.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    normal = weight * (wide * scale).to(dtype=dtype)
    return total, normal


def replacement_args(x, residual, weight, eps, dtype):
    return (x, residual, weight, eps)


@triton.jit
def norm_kernel(x_ptr, residual_ptr, weight_ptr, total_ptr, normal_ptr, width, eps, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    inside = column < width
    place = tl.program_id(0) * width + column
    dtype: tl.constexpr = total_ptr.dtype.element_ty
    x = tl.load(x_ptr + place, mask=inside, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + place, mask=inside, other=0.0).to(tl.float32)
    total = (x + residual).to(dtype).to(tl.float32)
    tl.store(total_ptr + place, total, mask=inside)
    scale = tl.rsqrt(tl.sum(total * total) / width + eps)
    normal = (total * scale).to(dtype).to(tl.float32)
    weight = tl.load(weight_ptr + column).to(tl.float32)
    tl.store(normal_ptr + place, weight * normal, mask=inside)


@torch.fx.wrap
def residual_rmsnorm(x, residual, weight, eps):
    """Return the sum and its normalisation, in this order."""
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    total, normal = torch.empty_like(x), torch.empty_like(x)
    width = x.shape[-1]
    block = triton.next_power_of_2(width)
    norm_kernel[(x.numel() // width,)](x, residual, weight, total, normal, width, eps, BLOCK=block)
    return total, normal


def replacement_func():
    return residual_rmsnorm
