import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.avg_pool1d(x, 4, 1)


def replacement_args(x):
    return (x,)


@triton.jit
def prefix_kernel(x_ptr, prefix_ptr, length, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < length
    x = tl.load(x_ptr + row * length + at, mask=inside, other=0.0)
    tl.store(prefix_ptr + row * length + at, tl.cumsum(x, 0), mask=inside)


@triton.jit
def window_kernel(prefix_ptr, out_ptr, length, windows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < windows
    upper = tl.load(prefix_ptr + row * length + at + 3, mask=inside, other=0.0)
    lower = tl.load(prefix_ptr + row * length + at - 1, mask=inside & (at > 0), other=0.0)
    tl.store(out_ptr + row * windows + at, (upper - lower) * 0.25, mask=inside)


@torch.fx.wrap
def window_means(x):
    x = x.contiguous()
    batch, channels, length = x.shape
    windows = length - 3
    prefix = torch.empty_like(x)
    out = torch.empty((batch, channels, windows), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(length)
    prefix_kernel[(batch * channels,)](x, prefix, length, BLOCK=block)
    window_kernel[(batch * channels,)](prefix, out, length, windows, BLOCK=block)
    return out


def replacement_func():
    return window_means
