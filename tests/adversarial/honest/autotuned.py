# Tries: a kernel that Triton tunes among several configurations, anew for each size of its key.
# Family: honest
# Needs: gpu
# Verdict: accepted
# Subgraph: scale-bias

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ],
    key=["count"],
)
@triton.jit
def scale_bias_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, count, width, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    column = offsets % width
    weight = tl.load(weight_ptr + column, mask=inside)
    bias = tl.load(bias_ptr + column, mask=inside)
    product = tl.load(x_ptr + offsets, mask=inside) * weight
    tl.store(out_ptr + offsets, product + bias, mask=inside)


@torch.fx.wrap
def scale_bias(x, weight, bias):
    out = torch.empty_like(x)
    count = x.numel()

    def grid(meta):
        return (triton.cdiv(count, meta["BLOCK"]),)

    scale_bias_kernel[grid](x, weight, bias, out, count, x.shape[-1])
    return out


def replacement_func():
    return scale_bias
