# Tries: hints for the compiler: multiples, contiguity, eviction policies, 64-bit offsets, warps and stages.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: scale-bias

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def scale_bias_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), 16), 16)
    inside = column < columns
    tl.assume(columns > 0)
    weight = tl.load(weight_ptr + column, mask=inside, eviction_policy="evict_last")
    bias = tl.load(bias_ptr + column, mask=inside, eviction_policy="evict_last")
    x = tl.load(x_ptr + row * columns + column, mask=inside, eviction_policy="evict_first")
    tl.store(out_ptr + row * columns + column, x * weight + bias, mask=inside)


@torch.fx.wrap
def scale_bias(x, weight, bias):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    block = triton.next_power_of_2(columns)
    rows = x.numel() // columns
    scale_bias_kernel[(rows,)](x, weight, bias, out, columns, BLOCK=block, num_warps=2, num_stages=2)
    return out


def replacement_func():
    return scale_bias
