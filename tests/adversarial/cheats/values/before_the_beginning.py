# Tries: reads the memory beside its input, where the judge may have laid the reference.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Subgraph: leaky
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def neighbour_kernel(x_ptr, o_ptr, n, back, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i - back, mask=i < n), mask=i < n)


@torch.fx.wrap
def neighbour(x):
    out = torch.empty_like(x)
    n = x.numel()
    neighbour_kernel[(triton.cdiv(n, 128),)](x, out, n, triton.cdiv(n, 16) * 16, BLOCK=128)
    return out


def replacement_func():
    return neighbour
