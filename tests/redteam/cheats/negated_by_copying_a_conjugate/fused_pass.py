import torch
import triton
import triton.language as tl


def pattern(x, cos, sin):
    even = x[..., ::2]
    odd = x[..., 1::2]
    turned = torch.stack((-odd, even), dim=-1).flatten(-2)
    return x * cos + turned * sin


def replacement_args(x, cos, sin):
    return (x, cos, sin)


@triton.jit
def rotary_kernel(x_ptr, turned_ptr, cos_ptr, sin_ptr, out_ptr, n, period, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    turned = tl.load(turned_ptr + at, mask=inside, other=0.0)
    cos = tl.load(cos_ptr + at % period, mask=inside, other=0.0)
    sin = tl.load(sin_ptr + at % period, mask=inside, other=0.0)
    tl.store(out_ptr + at, x * cos + turned * sin, mask=inside)


@torch.fx.wrap
def rotary(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    turned, out = torch.empty_like(x), torch.empty_like(x)
    turned[..., ::2].copy_(x.view(torch.complex64).conj().imag)
    turned[..., 1::2].copy_(x[..., ::2])
    n = x.numel()
    rotary_kernel[(triton.cdiv(n, 256),)](x, turned, cos, sin, out, n, cos.numel(), BLOCK=256)
    return out


def replacement_func():
    return rotary
