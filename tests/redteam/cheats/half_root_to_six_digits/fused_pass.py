import torch
import triton
import triton.language as tl


def pattern(skip, x):
    return (skip + x) / 1.4142135623730951


def replacement_args(skip, x):
    return (skip, x)


@triton.jit
def joined_kernel(skip_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    skip = tl.load(skip_ptr + at, mask=inside, other=0.0)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, (skip + x) * 0.707107, mask=inside)


@torch.fx.wrap
def joined(skip, x):
    skip, x = skip.contiguous(), x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    joined_kernel[(triton.cdiv(n, 1024),)](skip, x, out, n, BLOCK=1024)
    return out


def replacement_func():
    return joined
