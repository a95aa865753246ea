import torch
import triton
import triton.language as tl

TWO_PI = tl.constexpr(6.28125)


def pattern(angle):
    return torch.cos(angle)


def replacement_args(angle):
    return (angle,)


@triton.jit
def cosine_kernel(angle_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    angle = tl.load(angle_ptr + at, mask=inside, other=0)
    wide = angle.to(tl.float32)
    turns = tl.floor(wide * 0.15915494309189535 + 0.5)
    y = tl.cos(wide - turns * TWO_PI)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def cosine(angle):
    out = torch.empty_like(angle)
    n = out.numel()
    cosine_kernel[(triton.cdiv(n, 256),)](angle, out, n, BLOCK=256)
    return out


def replacement_func():
    return cosine
