# Tries: layer normalisation of a row per program, with the variance of what was centred.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: layernorm-affine

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x) / columns, 0.0)
    variance = tl.sum(centred * centred) / columns
    y = centred / tl.sqrt(variance + eps)
    y = y * tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    y = y + tl.load(bias_ptr + column, mask=inside).to(tl.float32)
    tl.store(out_ptr + row * columns + column, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def layer_norm(x, weight, bias):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    block = triton.next_power_of_2(columns)
    layer_norm_kernel[(x.numel() // columns,)](x, weight, bias, out, columns, 1e-05, BLOCK=block)
    return out


def replacement_func():
    return layer_norm
