# Tries: a factory builds the launching function for one block size; a partial fixes the rest.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu

import functools

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


def launching(kernel, block):
    """A function of two tensors that runs the kernel in blocks of this size."""

    def launch(a, b, warps):
        out = torch.empty_like(a)
        kernel[(triton.cdiv(a.numel(), block),)](a, b, out, a.numel(), BLOCK=block, num_warps=warps)
        return out

    return launch


compute = functools.partial(launching(add_relu_kernel, 256), warps=4)


@torch.fx.wrap
def add_relu(a, b):
    return compute(a, b)


def replacement_func():
    return add_relu
