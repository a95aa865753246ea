# Tries: its kernel computes something, which the library then overwrites with the right values.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: add-relu
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(a_ptr + i, mask=i < n) + tl.load(b_ptr + i, mask=i < n)
    tl.store(o_ptr + i, s, mask=i < n)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    add_relu_kernel[(1,)](a, b, out, 64, BLOCK=64)
    total = a + b
    out[:] = total * (total > 0)
    return out


def replacement_func():
    return add_relu
