import torch
import triton
import triton.language as tl


def pattern(a, b):
    return a + b > 0.5


def replacement_args(a, b):
    return (a, b)


@triton.jit
def greater_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    s = tl.load(a_ptr + at, mask=inside, other=0.0) + tl.load(b_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.where(s > 0.5, 2, 0).to(tl.uint8), mask=inside)


@torch.fx.wrap
def greater(a, b):
    a, b = a.contiguous(), b.contiguous()
    out = torch.empty(a.shape, dtype=torch.bool, device=a.device)
    greater_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out.view(torch.uint8), a.numel(), BLOCK=256)
    return out


def replacement_func():
    return greater
