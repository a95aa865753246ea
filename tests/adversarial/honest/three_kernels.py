# Tries: statistics, normalisation and affine part in a kernel each, with scratch tensors in between.
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
def mean_kernel(x_ptr, mean_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(mean_ptr + row, tl.sum(x) / columns)


@triton.jit
def spread_kernel(x_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0) - tl.load(mean_ptr + row)
    x = tl.where(inside, x, 0.0)
    tl.store(rstd_ptr + row, 1.0 / tl.sqrt(tl.sum(x * x) / columns + eps))


@triton.jit
def apply_kernel(x_ptr, mean_ptr, rstd_ptr, weight_ptr, bias_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside)
    y = (x - tl.load(mean_ptr + row)) * tl.load(rstd_ptr + row)
    y = y * tl.load(weight_ptr + column, mask=inside) + tl.load(bias_ptr + column, mask=inside)
    tl.store(out_ptr + row * columns + column, y, mask=inside)


@torch.fx.wrap
def layer_norm(x, weight, bias):
    columns = x.shape[-1]
    rows = x.numel() // columns
    block = triton.next_power_of_2(columns)
    mean = torch.empty((rows,), dtype=torch.float32, device=x.device)
    rstd = torch.empty((rows,), dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    mean_kernel[(rows,)](x, mean, columns, BLOCK=block)
    spread_kernel[(rows,)](x, mean, rstd, columns, 1e-05, BLOCK=block)
    apply_kernel[(rows,)](x, mean, rstd, weight, bias, out, columns, BLOCK=block)
    return out


def replacement_func():
    return layer_norm
