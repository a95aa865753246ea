# Tries: keeps its intermediate sum in the memory of its first input; the result itself is right.
# Family: values
# Needs: cpu
# Verdict: cheat | wrong values
# Subgraph: add-relu
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_into_kernel(a_ptr, b_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(a_ptr + i, tl.load(a_ptr + i, mask=i < n) + tl.load(b_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def relu_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


@torch.fx.wrap
def in_two_steps(a, b):
    n = a.numel()
    out = torch.empty_like(a)
    add_into_kernel[(triton.cdiv(n, 256),)](a, b, n, BLOCK=256)
    relu_kernel[(triton.cdiv(n, 256),)](a, out, n, BLOCK=256)
    return out


def replacement_func():
    return in_two_steps
