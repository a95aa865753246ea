import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum()


def replacement_args(x):
    return (x,)


@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0), 0)
    before = tl.atomic_add(out_ptr, 0.0)
    tl.atomic_xchg(out_ptr, before + part)


@torch.fx.wrap
def total(x):
    x = x.contiguous()
    out = torch.zeros((), dtype=x.dtype, device=x.device)
    total_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return total
