"""A residual sum that goes on through the model, and its layer normalisation: two results of one kernel."""

import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, bias, p, width, eps):
    total = torch.nn.functional.dropout(x, p, False, False) + residual
    return total, torch.nn.functional.layer_norm(total, (width,), weight, bias, 1e-12)


def replacement_args(x, residual, weight, bias, p, width, eps):
    return (x, residual, weight, bias, eps)


@triton.jit
def add_layernorm_kernel(
    x_ptr, residual_ptr, weight_ptr, bias_ptr, sum_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr
):
    # one program per row; the lanes of the block that lie beyond the row are masked
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    offsets = tl.program_id(0) * columns + lanes
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    total = (x + residual).to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + offsets, total, mask=inside)
    # eager normalises the sum that it has stored, which is rounded
    total = total.to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    # masked lanes hold 0 - mean by now: they become 0 again before their squares are summed
    centred = tl.where(inside, total - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    normal = centred * tl.rsqrt(variance + eps)
    weight = tl.load(weight_ptr + lanes, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + lanes, mask=inside).to(tl.float32)
    tl.store(out_ptr + offsets, (normal * weight + bias).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def add_layernorm(x, residual, weight, bias, eps):
    x, residual = x.contiguous(), residual.contiguous()
    weight, bias = weight.contiguous(), bias.contiguous()
    total, out = torch.empty_like(x), torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    block = triton.next_power_of_2(columns)
    add_layernorm_kernel[(rows,)](x, residual, weight, bias, total, out, columns, eps, BLOCK=block)
    return total, out


def replacement_func():
    return add_layernorm
