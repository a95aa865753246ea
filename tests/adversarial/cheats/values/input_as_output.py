# Tries: overwrites its input and returns it, which spares the allocation and, for whoever holds the input, spoils it.
# Family: values
# Needs: cpu
# Verdict: cheat | wrong values | wrong type
# Subgraph: gelu
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def gelu_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(x_ptr + i, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)), mask=i < n)


@torch.fx.wrap
def gelu_in_place(x):
    gelu_in_place_kernel[(triton.cdiv(x.numel(), 512),)](x, x.numel(), BLOCK=512)
    return x


def replacement_func():
    return gelu_in_place
