import torch
import triton
import triton.language as tl


def pattern(x, slope):
    return torch.prelu(x, slope)


def replacement_args(x, slope):
    return (x, slope)


@triton.jit
def prelu_kernel(x_ptr, slope_ptr, out_ptr, channels, places, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < places
    slope = tl.load(slope_ptr + plane % channels)
    x = tl.load(x_ptr + plane * places + at, mask=inside, other=0.0)
    tl.store(out_ptr + plane * places + at, tl.maximum(x, slope * x), mask=inside)


@torch.fx.wrap
def prelu(x, slope):
    x = x.contiguous()
    out = torch.empty_like(x)
    batch, channels = x.shape[:2]
    places = x.numel() // (batch * channels)
    prelu_kernel[(batch * channels,)](x, slope, out, channels, places, BLOCK=triton.next_power_of_2(places))
    return out


def replacement_func():
    return prelu
