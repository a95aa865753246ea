import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.sigmoid(x.to(torch.float32))


def replacement_args(x):
    return (x,)


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, 1.0 / (1.0 + tl.exp(-x)), mask=at < n)


@torch.fx.wrap
def squashed(x):
    wide = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    wide.view(torch.int16)[..., 1::2].copy_(x.view(torch.int16))
    out = torch.empty_like(wide)
    sigmoid_kernel[(triton.cdiv(x.numel(), 256),)](wide, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return squashed
