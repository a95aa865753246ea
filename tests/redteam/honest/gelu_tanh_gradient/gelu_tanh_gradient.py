import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(grad, x):
    square = x * x
    inner = (x + square * x * 0.044715) * 0.7978845608028654
    t = torch.tanh(inner)
    left = (t + 1.0) * 0.5
    sech = 1.0 - t * t
    half = x * 0.5
    slope = (square * 0.134145 + 1.0) * 0.7978845608028654
    return grad * (left + half * sech * slope)


def replacement_args(grad, x):
    return (grad, x)


@triton.jit
def gelu_gradient_kernel(grad_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + offs, mask=mask, other=0.0)
    square = x * x
    inner = (x + square * x * 0.044715) * 0.7978845608028654
    t = libdevice.tanh(inner)
    left = (t + 1.0) * 0.5
    sech = 1.0 - t * t
    slope = (square * 0.134145 + 1.0) * 0.7978845608028654
    derivative = left + x * 0.5 * sech * slope
    tl.store(out_ptr + offs, grad * derivative, mask=mask)


@torch.fx.wrap
def gelu_gradient(grad, x):
    grad = grad.contiguous()
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    gelu_gradient_kernel[grid](grad, x, out, n, BLOCK=512, enable_fp_fusion=False)
    return out


def replacement_func():
    return gelu_gradient
