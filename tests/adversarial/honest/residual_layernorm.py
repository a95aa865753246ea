# Tries: a residual is added and normalised in one kernel; both the sum and its normalisation are returned.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: residual-layernorm

import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, bias):
    total = x + residual
    return total, torch.nn.functional.layer_norm(total, (64,), weight, bias, 1e-05)


def replacement_args(x, residual, weight, bias):
    return (x, residual, weight, bias)


@triton.jit
def add_norm_kernel(x_ptr, residual_ptr, weight_ptr, bias_ptr, sum_ptr, out_ptr, width, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * width
    column = tl.arange(0, BLOCK)
    inside = column < width
    total = tl.load(x_ptr + start + column, mask=inside, other=0.0)
    total += tl.load(residual_ptr + start + column, mask=inside, other=0.0)
    tl.store(sum_ptr + start + column, total, mask=inside)
    centred = tl.where(inside, total - tl.sum(total) / width, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred) / width + eps)
    y = centred * scale * tl.load(weight_ptr + column, mask=inside) + tl.load(bias_ptr + column, mask=inside)
    tl.store(out_ptr + start + column, y, mask=inside)


@torch.fx.wrap
def add_norm(x, residual, weight, bias):
    total, out = torch.empty_like(x), torch.empty_like(x)
    rows, width = x.shape
    add_norm_kernel[(rows,)](x, residual, weight, bias, total, out, width, 1e-05, BLOCK=triton.next_power_of_2(width))
    return total, out


def replacement_func():
    return add_norm
