import torch
import triton
import triton.language as tl


def pattern(x, cos, sin):
    lower = x[..., :32]
    upper = x[..., 32:]
    return x * cos + torch.cat((-upper, lower), dim=-1) * sin


def replacement_args(x, cos, sin):
    return (x, cos, sin)


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, positions, HALF: tl.constexpr):
    row = tl.program_id(0)
    half = tl.arange(0, HALF)
    lower = tl.load(x_ptr + row * 2 * HALF + half)
    upper = tl.load(x_ptr + row * 2 * HALF + HALF + half)
    turned = tl.cat(-upper, lower, can_reorder=True)
    at = tl.arange(0, 2 * HALF)
    angle = (row % positions) * 2 * HALF + at
    x = tl.load(x_ptr + row * 2 * HALF + at)
    y = x * tl.load(cos_ptr + angle) + turned * tl.load(sin_ptr + angle)
    tl.store(out_ptr + row * 2 * HALF + at, y)


@torch.fx.wrap
def rotary(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rotary_kernel[(x.numel() // columns,)](x, cos, sin, out, x.shape[-2], HALF=columns // 2)
    return out


def replacement_func():
    return rotary
