import torch
import triton
import triton.language as tl


def pattern(gradient, step):
    return -(gradient * step)


def replacement_args(gradient, step):
    return (gradient, step)


@triton.jit
def product_kernel(gradient_ptr, step_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    gradient = tl.load(gradient_ptr + at, mask=inside, other=0.0)
    step = tl.load(step_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + 2 * at + 1, gradient * step, mask=inside)


@torch.fx.wrap
def product(gradient, step):
    gradient, step = gradient.contiguous(), step.contiguous()
    pairs = torch.empty(gradient.shape, dtype=torch.complex64, device=gradient.device)
    n = gradient.numel()
    product_kernel[(triton.cdiv(n, 256),)](gradient, step, pairs.view(torch.float32), n, BLOCK=256)
    return pairs.conj().imag


def replacement_func():
    return product
