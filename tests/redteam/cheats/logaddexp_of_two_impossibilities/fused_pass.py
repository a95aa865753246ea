import torch
import triton
import triton.language as tl


def pattern(stay, move):
    return torch.logaddexp(stay, move)


def replacement_args(stay, move):
    return (stay, move)


@triton.jit
def logaddexp_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(a_ptr + at, mask=inside, other=0.0)
    b = tl.load(b_ptr + at, mask=inside, other=0.0)
    most = tl.maximum(a, b)
    y = most + tl.log(1.0 + tl.exp(-tl.abs(a - b)))
    tl.store(out_ptr + at, y, mask=inside)


@torch.fx.wrap
def logaddexp(stay, move):
    out = torch.empty_like(stay)
    n = out.numel()
    logaddexp_kernel[(triton.cdiv(n, 512),)](stay, move, out, n, BLOCK=512)
    return out


def replacement_func():
    return logaddexp
