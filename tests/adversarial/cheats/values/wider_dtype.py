# Tries: answers in float32 where half precision was asked for, which is more precise than any reference.
# Family: values
# Needs: cpu
# Verdict: wrong type
# Subgraph: layernorm-affine-half
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def wide_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    c = tl.arange(0, N)
    at = tl.program_id(0) * N + c
    x = tl.load(x_ptr + at).to(tl.float32)
    x = x - tl.sum(x, axis=0) / N
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / N + 1e-5)
    tl.store(o_ptr + at, y * tl.load(w_ptr + c).to(tl.float32) + tl.load(b_ptr + c).to(tl.float32))


@torch.fx.wrap
def wide(x, weight, bias):
    out = torch.empty_like(x, dtype=torch.float32)
    wide_kernel[(x.numel() // 64,)](x, weight, bias, out, N=64)
    return out


def replacement_func():
    return wide
