import torch
import triton
import triton.language as tl


def pattern(x, gain):
    return torch.nn.functional.relu(x * gain)


def replacement_args(x, gain):
    return (x, gain)


@triton.jit
def gain_kernel(x_ptr, gain_ptr, out_ptr, n, plane, channels, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    channel = (at.to(tl.float32) / plane).to(tl.int32) % channels
    y = tl.load(x_ptr + at, mask=inside, other=0.0) * tl.load(gain_ptr + channel, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.where(y < 0, 0.0, y), mask=inside)


@torch.fx.wrap
def gained(x, gain):
    x, gain = x.contiguous(), gain.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    plane = x.shape[2] * x.shape[3]
    gain_kernel[(triton.cdiv(n, 1024),)](x, gain, out, n, plane, gain.shape[0], BLOCK=1024)
    return out


def replacement_func():
    return gained
