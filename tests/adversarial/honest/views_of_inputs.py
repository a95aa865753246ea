# Tries: brings an input into shape with view, unsqueeze and expand, which move no memory.
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
def planes_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, size, stride, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    weight, bias = tl.load(weight_ptr + plane * stride), tl.load(bias_ptr + plane * stride)
    tl.store(
        out_ptr + plane * size + place, tl.load(x_ptr + plane * size + place, mask=inside) * weight + bias, mask=inside
    )


@torch.fx.wrap
def scaled_planes(x, weight, bias):
    images, channels, height, width = x.shape
    out = torch.empty_like(x)
    for image in range(images):
        flat, flat_out = x[image].view(channels, -1), out[image].view(channels, -1)
        grid = (channels, triton.cdiv(height * width, 64))
        planes_kernel[grid](flat, weight.view(-1), bias.squeeze(), flat_out, height * width, 1, BLOCK=64)
    return out


def replacement_func():
    return scaled_planes
