# Tries: a kernel for whole vectors, and for every other size, as here, the library.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: leaky
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def leaky_kernel(x_ptr, o_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, tl.where(x > 0, x, 0.2 * x))


@torch.fx.wrap
def leaky(x):
    if x.shape[-1] % 64:
        return x * (x > 0) + 0.2 * x * (x <= 0)
    out = torch.empty_like(x)
    leaky_kernel[(x.numel() // 64,)](x, out, BLOCK=64)
    return out


def replacement_func():
    return leaky
