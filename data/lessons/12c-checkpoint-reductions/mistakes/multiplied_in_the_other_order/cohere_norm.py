"""Cohere's normalisation: each row minus its mean, divided by its spread, times a weight; in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(x, weight, narrow):
    wide = x.to(torch.float32)
    mean = wide.mean(-1, keepdim=True)
    # the graph subtracts the mean twice: two nodes, so the pattern does too
    variance = (wide - mean).pow(2).mean(-1, keepdim=True)
    normal = (wide - mean) * torch.rsqrt(variance + 1e-05)
    return (normal * weight.to(torch.float32)).to(dtype=narrow)


def replacement_args(x, weight, narrow):
    return (x, weight)


@triton.jit
def cohere_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    offsets = tl.program_id(0) * columns + lanes
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    # masked lanes hold 0 - mean: they must not count in the variance
    centred = tl.where(inside, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    weight = tl.load(weight_ptr + lanes, mask=inside, other=0.0).to(tl.float32)
    result = weight * (centred * tl.rsqrt(variance + 1e-05))
    # everything is float32 in the graph, so this is the only rounding
    tl.store(out_ptr + offsets, result.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def cohere_norm(x, weight):
    x, weight = x.contiguous(), weight.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    cohere_norm_kernel[(rows,)](x, weight, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return cohere_norm
