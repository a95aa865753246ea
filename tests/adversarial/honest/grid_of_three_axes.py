# Tries: a three-dimensional grid over images, channels and tiles of places.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: planes

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def planes_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, channels, size, BLOCK: tl.constexpr):
    image, channel = tl.program_id(0), tl.program_id(1)
    place = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    at = (image * channels + channel) * size + place
    y = tl.load(x_ptr + at, mask=inside) * tl.load(weight_ptr + channel) + tl.load(bias_ptr + channel)
    tl.store(out_ptr + at, y, mask=inside)


@torch.fx.wrap
def planes(x, weight, bias):
    images, channels, height, width = x.shape
    out = torch.empty_like(x)
    grid = (images, channels, triton.cdiv(height * width, 32))
    planes_kernel[grid](x, weight, bias, out, channels, height * width, BLOCK=32)
    return out


def replacement_func():
    return planes
