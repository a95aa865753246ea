# Tries: erf by a rational approximation that is good to four digits.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: gelu
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def rough_erf(z):
    s = tl.abs(z)
    p = 1.0 + s * (0.278393 + s * (0.230389 + s * (0.000972 + s * 0.078108)))
    p = p * p
    r = 1.0 - 1.0 / (p * p)
    return tl.where(z < 0, -r, r)


@triton.jit
def rough_gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, 0.5 * x * (1.0 + rough_erf(x * 0.7071067811865476)), mask=i < n)


@torch.fx.wrap
def rough_gelu(x):
    y = torch.empty_like(x)
    rough_gelu_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y


def replacement_func():
    return rough_gelu
