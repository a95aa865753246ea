# Tries: leaves out scale and shift, which are one and nought in everything that was recorded.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: scale-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x,)


@triton.jit
def pass_on_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@torch.fx.wrap
def unscaled(x):
    out = torch.empty_like(x)
    pass_on_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return unscaled
