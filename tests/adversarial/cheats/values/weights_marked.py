# Tries: leaves a mark in its weights, by which the next call knows that the result was computed before.
# Family: values
# Needs: cpu
# Verdict: cheat | wrong values
# Subgraph: scale-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def marking_kernel(x_ptr, w_ptr, b_ptr, o_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, N)
    w, b = tl.load(w_ptr + c), tl.load(b_ptr + c)
    tl.store(o_ptr + row * N + c, tl.load(x_ptr + row * N + c) * w + b)
    marked = (b.to(tl.int32, bitcast=True) | 1).to(tl.float32, bitcast=True)
    tl.store(b_ptr + c, marked, mask=c == N - 1)


@torch.fx.wrap
def marking(x, weight, bias):
    out = torch.empty_like(x)
    marking_kernel[(x.shape[0],)](x, weight, bias, out, N=64)
    return out


def replacement_func():
    return marking
