import torch
import triton
import triton.language as tl


def pattern(x, gain):
    return (x - x.mean((2, 3), keepdim=True)) * gain


def replacement_args(x, gain):
    return (x, gain)


@triton.jit
def centre_kernel(x_ptr, gain_ptr, out_ptr, places, BLOCK: tl.constexpr):
    image = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < places
    x = tl.load(x_ptr + image * places + at, mask=inside, other=0.0)
    gain = tl.load(gain_ptr + image)
    y = (x - tl.sum(x, 0) / places) * gain
    tl.store(out_ptr + image * places + at, y, mask=inside)


@torch.fx.wrap
def centred(x, gain):
    x, gain = x.contiguous(), gain.contiguous()
    out = torch.empty_like(x)
    images = gain.numel()
    places = x.numel() // images
    centre_kernel[(images,)](x, gain, out, places, BLOCK=triton.next_power_of_2(places), num_warps=16)
    return out


def replacement_func():
    return centred
