"""LayerScale, residual sum and layer normalisation, as in DINOv2: one kernel with two results."""

import torch
import triton
import triton.language as tl


def pattern(x, scale, residual, weight, bias, width, eps):
    total = x * scale + residual
    normal = torch.nn.functional.layer_norm(total, (width,), weight, bias, eps)
    # The graph needs the sum after the match as well: it goes on to the next layer.
    return total, normal


def replacement_args(x, scale, residual, weight, bias, width, eps):
    return (x, scale, residual, weight, bias, eps)


@triton.jit
def norm_kernel(
    x_ptr, scale_ptr, residual_ptr, weight_ptr, bias_ptr, total_ptr, normal_ptr, width, eps, BLOCK: tl.constexpr
):
    # One program per row: it adds, stores the sum, and normalises the sum that it still holds.
    column = tl.arange(0, BLOCK)
    inside = column < width
    place = tl.program_id(0) * width + column
    dtype: tl.constexpr = total_ptr.dtype.element_ty
    x = tl.load(x_ptr + place, mask=inside).to(tl.float32)
    scale = tl.load(scale_ptr + column, mask=inside).to(tl.float32)
    residual = tl.load(residual_ptr + place).to(tl.float32)
    scaled = (x * scale).to(dtype).to(tl.float32)
    total = (scaled + residual).to(dtype).to(tl.float32)
    tl.store(total_ptr + place, total, mask=inside)
    mean = tl.sum(tl.where(inside, total, 0.0)) / width
    away = tl.where(inside, total - mean, 0.0)
    spread = tl.rsqrt(tl.sum(away * away) / width + eps)
    weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=inside).to(tl.float32)
    tl.store(normal_ptr + place, away * spread * weight + bias, mask=inside)


@torch.fx.wrap
def scaled_residual_norm(x, scale, residual, weight, bias, eps):
    x, scale, residual = x.contiguous(), scale.contiguous(), residual.contiguous()
    weight, bias = weight.contiguous(), bias.contiguous()
    total, normal = torch.empty_like(x), torch.empty_like(x)
    width = x.shape[-1]
    block = triton.next_power_of_2(width)
    norm_kernel[(x.numel() // width,)](x, scale, residual, weight, bias, total, normal, width, eps, BLOCK=block)
    return total, normal


def replacement_func():
    return scaled_residual_norm
