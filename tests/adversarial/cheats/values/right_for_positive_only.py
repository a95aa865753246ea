# Tries: forgets the slope for negative inputs.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: leaky
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


@torch.fx.wrap
def relu(x):
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return relu
