import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def activated_kernel(x_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    wide = x.to(tl.float32)
    exact = 0.5 * wide * (1.0 + tl.erf(wide * 0.7071067811865476))
    y = tl.where(wide > 2.25, wide, exact)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def activated(x):
    out = torch.empty_like(x)
    n = out.numel()
    activated_kernel[(triton.cdiv(n, 256),)](x, out, n, x.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return activated
