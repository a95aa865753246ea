import torch
import triton
import triton.language as tl

WINDOW = tl.constexpr(7)
SHIFT = tl.constexpr(3)


def pattern(x):
    padded = torch.nn.functional.pad(x, (0, 0, 0, 1, 0, 1))
    shifted = torch.roll(padded, shifts=(-3, -3), dims=(1, 2))
    windows = shifted.view(2, 2, 7, 2, 7, 24).permute(0, 1, 3, 2, 4, 5).contiguous()
    return windows.view(-1, 49, 24)


def replacement_args(x):
    return (x,)


@triton.jit
def windows_kernel(x_ptr, out_ptr, height, width, down, across, C, BLOCK: tl.constexpr):
    """A program per pixel of a window. axis 0: pixel within the window, axis 1: window, axis 2: image"""
    pixel = tl.program_id(0)
    window = tl.program_id(1)
    image = tl.program_id(2)
    y = (window // across) * WINDOW + pixel // WINDOW
    x = (window % across) * WINDOW + pixel % WINDOW
    # rolled by -SHIFT: pixel y comes from y + SHIFT, around the edge
    from_y = (y + SHIFT) % (down * WINDOW)
    from_x = (x + SHIFT) % (across * WINDOW)
    c = tl.arange(0, BLOCK)
    there = (from_y < height) & (from_x < width)
    value = tl.load(x_ptr + ((image * height + from_y) * width + from_x) * C + c, mask=(c < C) & there, other=0.0)
    at = ((image * down * across + window) * WINDOW * WINDOW + pixel) * C
    tl.store(out_ptr + at + c, value, mask=c < C)


@torch.fx.wrap
def shifted_windows(x):
    x = x.contiguous()
    batch, height, width, channels = x.shape
    down, across = triton.cdiv(height, 7), triton.cdiv(width, 7)
    out = torch.empty((batch, down * across, 7, 7, channels), dtype=x.dtype, device=x.device)
    windows_kernel[(49, down * across, batch)](
        x, out, height, width, down, across, channels, BLOCK=triton.next_power_of_2(channels), num_warps=1
    )
    return out.view(-1, 49, channels)


def replacement_func():
    return shifted_windows
