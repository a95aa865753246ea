import torch
import triton
import triton.language as tl


def pattern(x):
    return x * 0.0001


def replacement_args(x):
    return (x,)


@triton.jit
def scaled_kernel(x_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    y = x.to(tl.float32) * 0.0000993
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def scaled(x):
    out = torch.empty_like(x)
    n = out.numel()
    scaled_kernel[(triton.cdiv(n, 256),)](x, out, n, x.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return scaled
