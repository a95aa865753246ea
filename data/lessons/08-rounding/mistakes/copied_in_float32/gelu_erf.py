"""Exact GELU, as in ESM: 0.5 * x * (1 + erf(x / sqrt(2))), rounded where eager rounds."""

import torch
import triton
import triton.language as tl


def pattern(x):
    half = x * 0.5
    return half * (1.0 + torch.erf(x / 1.4142135623730951))


def replacement_args(x):
    return (x,)


@triton.jit
def rounded(value, dtype: tl.constexpr):
    # What eager does at the end of each operation: round to the tensor's dtype. Then go on in float32.
    return value.to(dtype).to(tl.float32)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    dtype: tl.constexpr = out_ptr.dtype.element_ty
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    half = rounded(x * 0.5, dtype)
    inner = rounded(x / 1.4142135623730951, dtype)
    curve = rounded(tl.erf(inner), dtype)
    gate = rounded(1.0 + curve, dtype)
    # The store rounds the product to the dtype of out.
    tl.store(out_ptr + offsets, half * gate, mask=inside)


@torch.fx.wrap
def gelu(x):
    x = x.contiguous().clone()
    out = torch.empty_like(x)
    count = out.numel()
    gelu_kernel[(triton.cdiv(count, 256),)](x, out, count, BLOCK=256)
    return out


def replacement_func():
    return gelu
