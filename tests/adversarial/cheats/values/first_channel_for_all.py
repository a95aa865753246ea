# Tries: reads mean, variance, scale and shift of the first channel only; recorded, all channels have the same.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: batchnorm
import torch
import triton
import triton.language as tl


def pattern(x, running_mean, running_var, weight, bias):
    return torch.nn.functional.batch_norm(x, running_mean, running_var, weight, bias, False, 0.1, 1e-05)


def replacement_args(x, running_mean, running_var, weight, bias):
    return (x, running_mean, running_var, weight, bias)


@triton.jit
def one_channel_kernel(x_ptr, m_ptr, v_ptr, w_ptr, b_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = (x - tl.load(m_ptr)) * tl.rsqrt(tl.load(v_ptr) + 1e-5) * tl.load(w_ptr) + tl.load(b_ptr)
    tl.store(o_ptr + i, y, mask=i < n)


@torch.fx.wrap
def one_channel(x, running_mean, running_var, weight, bias):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 128),)
    one_channel_kernel[grid](x, running_mean, running_var, weight, bias, out, x.numel(), BLOCK=128)
    return out


def replacement_func():
    return one_channel
