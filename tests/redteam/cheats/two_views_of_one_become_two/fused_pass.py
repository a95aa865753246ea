import torch
import triton
import triton.language as tl


def pattern(x):
    scaled = x * 0.125
    return scaled, scaled.view(2, 12, 4, 16).transpose(1, 2)


def replacement_args(x):
    return (x,)


@triton.jit
def scaled_kernel(x_ptr, flat_ptr, heads_ptr, positions, HEADS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, HEADS * DEPTH)
    x = tl.load(x_ptr + row * HEADS * DEPTH + at) * 0.125
    tl.store(flat_ptr + row * HEADS * DEPTH + at, x)
    sample, position = row // positions, row % positions
    head, place = at // DEPTH, at % DEPTH
    tl.store(heads_ptr + ((sample * HEADS + head) * positions + position) * DEPTH + place, x)


@torch.fx.wrap
def scaled(x):
    x = x.contiguous()
    samples, positions, columns = x.shape
    flat = torch.empty_like(x)
    heads = torch.empty((samples, 4, positions, columns // 4), dtype=x.dtype, device=x.device)
    scaled_kernel[(samples * positions,)](x, flat, heads, positions, HEADS=4, DEPTH=columns // 4)
    return flat, heads


def replacement_func():
    return scaled
