import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    y = torch.conv1d(x, weight, bias, (1,), (3,), (1,), 20)
    y = y[..., :33]
    return torch.nn.functional.silu(y)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def silu(x):
    return x / (1.0 + tl.exp(-x))


@triton.jit
def causal_conv_kernel(x_ptr, w_ptr, b_ptr, y_ptr, channels, length, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.program_id(0)                      # batch * channels + channel
    channel = lane % channels
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(WIDTH):
        at = t - (WIDTH - 1) + tap
        x = tl.load(x_ptr + lane.to(tl.int64) * length + at, mask=(at >= 0) & (at < length), other=0.0)
        acc += x.to(tl.float32) * tl.load(w_ptr + channel * WIDTH + tap).to(tl.float32)
    acc += tl.load(b_ptr + channel).to(tl.float32)
    y = silu(acc)
    tl.store(y_ptr + lane.to(tl.int64) * length + t, y.to(y_ptr.dtype.element_ty), mask=t < length)


@torch.fx.wrap
def causal_conv(x, weight, bias):
    x = x.contiguous()
    weight = weight.contiguous()
    batch, channels, length = x.shape
    y = torch.empty_like(x)
    grid = (batch * channels, triton.cdiv(length, 32))
    causal_conv_kernel[grid](x, weight, bias, y, channels, length, WIDTH=weight.shape[-1], BLOCK=32, num_warps=1)
    return y


def replacement_func():
    return causal_conv
