# Tries: asks for the number of multiprocessors once, for the grid of a persistent kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: scale-bias

import functools

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@functools.cache
def programs(device_index):
    if device_index is None:
        return 4
    return torch.cuda.get_device_properties(device_index).multi_processor_count


@triton.jit
def scale_bias_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, count, width, step, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, count, step):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < count
        weight = tl.load(weight_ptr + offsets % width, mask=inside)
        bias = tl.load(bias_ptr + offsets % width, mask=inside)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * weight + bias, mask=inside)


@torch.fx.wrap
def scale_bias(x, weight, bias):
    out = torch.empty_like(x)
    block = 128
    grid = min(programs(x.device.index), triton.cdiv(x.numel(), block))
    scale_bias_kernel[(grid,)](x, weight, bias, out, x.numel(), x.shape[-1], grid * block, BLOCK=block)
    return out


def replacement_func():
    return scale_bias
