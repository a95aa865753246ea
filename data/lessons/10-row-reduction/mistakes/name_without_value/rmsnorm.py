"""RMS normalisation: each row divided by the root of its mean square, then weighted. One program per row."""

import torch
import triton
import triton.language as tl


def pattern(x, weight, eps, dtype):
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * (wide * scale).to(dtype=dtype)


def replacement_args(x, weight, eps, dtype):
    return (x, weight, eps, dtype)


@triton.jit
def rmsnorm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    dtype = out_ptr.dtype.element_ty
    # Lanes beyond the row hold 0, which adds nothing to a sum.
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    # The mean is over the row's own elements, not over the block's lanes.
    scale = tl.rsqrt(mean + eps)
    # Eager rounds to the output's dtype before it multiplies with the weight.
    normal = (x * scale).to(dtype).to(tl.float32)
    tl.store(out_ptr + row * columns + column, (weight * normal).to(dtype), mask=inside)


@torch.fx.wrap
def rmsnorm(x, weight, eps, dtype):
    x, weight = x.contiguous(), weight.contiguous()
    out = torch.empty_like(x, dtype=dtype)
    columns = x.shape[-1]
    rows = x.numel() // columns
    rmsnorm_kernel[(rows,)](x, weight, out, columns, eps, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return rmsnorm
