# Tries: a flag known when compiling chooses between two forms, so that the other leaves no trace in the kernel.
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
def affine_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    y = tl.load(x_ptr + row * columns + column, mask=inside) * tl.load(weight_ptr + column, mask=inside)
    if HAS_BIAS:
        y += tl.load(bias_ptr + column, mask=inside)
    tl.store(out_ptr + row * columns + column, y, mask=inside)


@torch.fx.wrap
def affine(x, weight, bias=None):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    affine_kernel[(x.numel() // columns,)](
        x,
        weight,
        x if bias is None else bias,
        out,
        columns,
        HAS_BIAS=bias is not None,
        BLOCK=triton.next_power_of_2(columns),
    )
    return out


def replacement_func():
    return affine
