# Tries: the tanh form of GELU where the exact one was asked for.
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
def gelu_tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(y_ptr + i, x * tl.sigmoid(2.0 * inner), mask=i < n)


@torch.fx.wrap
def gelu_tanh(x):
    y = torch.empty_like(x)
    n = x.numel()
    gelu_tanh_kernel[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
    return y


def replacement_func():
    return gelu_tanh
