# Tries: a class with docstrings plans the launch; its instance is what replacement_func's function uses.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu

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


class Elementwise:
    """Launches a kernel of two inputs over flat memory."""

    block = 256

    def __init__(self, kernel):
        self.kernel = kernel

    def grid(self, count):
        """As many programs as cover so many elements."""
        return (triton.cdiv(count, self.block),)

    def __call__(self, a, b):
        out = torch.empty_like(a)
        self.kernel[self.grid(a.numel())](a, b, out, a.numel(), BLOCK=self.block)
        return out


ADD_RELU = Elementwise(add_relu_kernel)


@torch.fx.wrap
def add_relu(a, b):
    """relu(a + b), in one kernel."""
    return ADD_RELU(a, b)


def replacement_func():
    return add_relu
