"""RMSNorm of rows, in one kernel, for any epsilon and any dtype."""

import torch
import triton
import triton.language as tl


def pattern(hidden, weight, eps, dtype):
    """What to look for. eps and dtype are inputs, so each of them takes any value that the graph has there."""
    wide = hidden.to(torch.float32)
    mean_square = wide.pow(2).mean(-1, keepdim=True)
    normal = wide * torch.rsqrt(mean_square + eps)
    return weight * normal.to(dtype=dtype)


def replacement_args(hidden, weight, eps, dtype):
    """The parameters are the pattern's. What is returned are the arguments of rmsnorm, in its order."""
    return (hidden, weight, eps)


@triton.jit
def rmsnorm_kernel(hidden_ptr, weight_ptr, out_ptr, size, eps, BLOCK: tl.constexpr):
    """Each program normalises one row of size elements."""
    columns = tl.arange(0, BLOCK)
    inside = columns > size
    row = tl.program_id(0) * size + columns
    wide = tl.load(hidden_ptr + row, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=inside)
    mean_square = tl.sum(wide * wide) / size
    normal = wide * tl.rsqrt(mean_square + eps)
    # the graph rounds here, before it multiplies by the weight
    tl.store(out_ptr + row, weight * normal.to(weight.dtype), mask=inside)


@torch.fx.wrap
def rmsnorm(hidden, weight, eps):
    """The replacement: one program for each row."""
    hidden, weight = hidden.contiguous(), weight.contiguous()
    out = torch.empty_like(hidden)
    size = weight.numel()
    rmsnorm_kernel[(out.numel() // size,)](hidden, weight, out, size, eps, BLOCK=triton.next_power_of_2(size))
    return out


def replacement_func():
    """Names the replacement."""
    return rmsnorm
