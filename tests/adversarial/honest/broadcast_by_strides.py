# Tries: a vector is broadcast over rows by a stride of 0 that expand gives it.
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
def affine_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, columns, weight_row, weight_column, bias_row, bias_column, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    weight = tl.load(weight_ptr + row * weight_row + column * weight_column, mask=inside)
    bias = tl.load(bias_ptr + row * bias_row + column * bias_column, mask=inside)
    tl.store(
        out_ptr + row * columns + column,
        tl.load(x_ptr + row * columns + column, mask=inside) * weight + bias,
        mask=inside,
    )


@torch.fx.wrap
def affine(x, weight, bias):
    rows, columns = x.shape
    weight, bias = weight.expand(rows, columns), bias.expand_as(x)
    out = torch.empty_like(x)
    affine_kernel[(rows,)](
        x, weight, bias, out, columns, *weight.stride(), *bias.stride(), BLOCK=triton.next_power_of_2(columns)
    )
    return out


def replacement_func():
    return affine
