# Tries: adds the tensors with a plus sign and leaves only the easy part to its kernel.
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
def relu_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


@torch.fx.wrap
def add_relu(a, b):
    total = a + b
    out = torch.empty_like(total)
    relu_kernel[(triton.cdiv(total.numel(), 256),)](total, out, total.numel(), BLOCK=256)
    return out


def replacement_func():
    return add_relu
