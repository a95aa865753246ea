# Tries: rotary position embedding: each half of a head's vector is read once and turned by its angles.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: rotary

import torch
import triton
import triton.language as tl


def pattern(x, cos, sin):
    first = x[..., :8]
    second = x[..., 8:]
    turned = torch.cat((-second, first), dim=-1)
    return x * cos + turned * sin


def replacement_args(x, cos, sin):
    return (x, cos, sin)


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, positions, HALF: tl.constexpr):
    row = tl.program_id(0)
    place = (row % positions) * 2 * HALF
    column = tl.arange(0, HALF)
    first = tl.load(x_ptr + row * 2 * HALF + column)
    second = tl.load(x_ptr + row * 2 * HALF + HALF + column)
    left = first * tl.load(cos_ptr + place + column) - second * tl.load(sin_ptr + place + column)
    right = second * tl.load(cos_ptr + place + HALF + column) + first * tl.load(sin_ptr + place + HALF + column)
    tl.store(out_ptr + row * 2 * HALF + column, left)
    tl.store(out_ptr + row * 2 * HALF + HALF + column, right)


@torch.fx.wrap
def rotary(x, cos, sin):
    out = torch.empty_like(x)
    width = x.shape[-1]
    rotary_kernel[(x.numel() // width,)](x, cos, sin, out, cos.shape[0], HALF=width // 2)
    return out


def replacement_func():
    return rotary
