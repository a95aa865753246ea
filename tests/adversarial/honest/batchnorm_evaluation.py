# Tries: batch normalisation with fixed statistics: a scale and a shift per channel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: batchnorm

import torch
import triton
import triton.language as tl


def pattern(x, mean, variance, weight, bias):
    return torch.nn.functional.batch_norm(x, mean, variance, weight, bias, False, 0.1, 1e-05)


def replacement_args(x, mean, variance, weight, bias):
    return (x, mean, variance, weight, bias)


@triton.jit
def batch_norm_kernel(
    x_ptr, mean_ptr, variance_ptr, weight_ptr, bias_ptr, out_ptr, channels, size, eps, BLOCK: tl.constexpr
):
    plane = tl.program_id(0)
    channel = plane % channels
    place = tl.arange(0, BLOCK)
    inside = place < size
    scale = tl.load(weight_ptr + channel) / tl.sqrt(tl.load(variance_ptr + channel) + eps)
    x = tl.load(x_ptr + plane * size + place, mask=inside)
    y = (x - tl.load(mean_ptr + channel)) * scale + tl.load(bias_ptr + channel)
    tl.store(out_ptr + plane * size + place, y, mask=inside)


@torch.fx.wrap
def batch_norm(x, mean, variance, weight, bias):
    images, channels, height, width = x.shape
    out = torch.empty_like(x)
    size = height * width
    batch_norm_kernel[(images * channels,)](
        x, mean, variance, weight, bias, out, channels, size, 1e-05, BLOCK=triton.next_power_of_2(size)
    )
    return out


def replacement_func():
    return batch_norm
