import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.exp(x)


def replacement_args(x):
    return (x,)


@triton.jit
def powers_kernel(x_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    y = tl.minimum(tl.exp(x.to(tl.float32)), 65200.0)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def powers(x):
    out = torch.empty_like(x)
    n = out.numel()
    powers_kernel[(triton.cdiv(n, 256),)](x, out, n, x.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return powers
