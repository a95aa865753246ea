# Tries: a LayerNorm without eps, which normal data never misses.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity | wrong values
# Subgraph: layernorm-affine
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def no_eps_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    c = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + c)
    d = x - tl.sum(x, axis=0) / N
    y = d * tl.rsqrt(tl.sum(d * d, axis=0) / N) * tl.load(w_ptr + c) + tl.load(b_ptr + c)
    tl.store(o_ptr + tl.program_id(0) * N + c, y)


@torch.fx.wrap
def no_eps(x, weight, bias):
    out = torch.empty_like(x)
    no_eps_kernel[(x.shape[0] * x.shape[1],)](x, weight, bias, out, N=64)
    return out


def replacement_func():
    return no_eps
