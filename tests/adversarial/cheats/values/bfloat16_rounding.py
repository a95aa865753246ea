# Tries: rounds the result of a float32 LayerNorm through bfloat16 before it is stored.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: layernorm-affine
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def rounded_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    x -= tl.sum(x, axis=0) / N
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / N + 1e-5)
    y = y * tl.load(w_ptr + tl.arange(0, N)) + tl.load(b_ptr + tl.arange(0, N))
    tl.store(o_ptr + at, y.to(tl.bfloat16).to(tl.float32))


@torch.fx.wrap
def rounded(x, weight, bias):
    out = torch.empty_like(x)
    rounded_kernel[(x.numel() // x.shape[-1],)](x, weight, bias, out, N=x.shape[-1])
    return out


def replacement_func():
    return rounded
