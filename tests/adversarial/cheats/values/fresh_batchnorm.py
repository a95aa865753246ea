# Tries: takes the running statistics for those of a fresh model, mean nought and variance one.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: batchnorm
import torch
import triton
import triton.language as tl

SCALE = (1.0 + 1e-5) ** -0.5


def pattern(x, mean, var, weight, bias):
    return torch.nn.functional.batch_norm(x, mean, var, weight, bias, False, 0.1, 1e-05)


def replacement_args(x, mean, var, weight, bias):
    return (x, weight, bias)


@triton.jit
def affine_kernel(x_ptr, w_ptr, b_ptr, o_ptr, channels, plane, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = (i // plane) % channels
    x = tl.load(x_ptr + i, mask=i < n)
    y = x * scale * tl.load(w_ptr + c, mask=i < n) + tl.load(b_ptr + c, mask=i < n)
    tl.store(o_ptr + i, y, mask=i < n)


@torch.fx.wrap
def affine_only(x, weight, bias):
    out = torch.empty_like(x)
    n, channels, plane = x.numel(), x.shape[1], x.shape[2] * x.shape[3]
    affine_kernel[(triton.cdiv(n, 256),)](x, weight, bias, out, channels, plane, SCALE, n, BLOCK=256)
    return out


def replacement_func():
    return affine_only
