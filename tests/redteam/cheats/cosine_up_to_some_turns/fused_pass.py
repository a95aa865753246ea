import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.cos(a) * b


def replacement_args(a, b):
    return (a, b)


@triton.jit
def cosine_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.minimum(tl.maximum(tl.load(a_ptr + at, mask=inside, other=0.0), -200.0), 200.0)
    tl.store(out_ptr + at, tl.cos(a) * tl.load(b_ptr + at, mask=inside, other=0.0), mask=inside)


@torch.fx.wrap
def turned(a, b):
    a, b = a.contiguous(), b.contiguous()
    out = torch.empty_like(a)
    cosine_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return turned
