# Tries: an enumeration and a match statement choose the kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: two-activations

import enum

import torch
import triton
import triton.language as tl


class Kind(enum.Enum):
    RELU = "relu"
    SIGMOID = "sigmoid"


def pattern(x, y):
    return torch.nn.functional.relu(x, inplace=False), torch.sigmoid(y)


def replacement_args(x, y):
    return (x, y)


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=offsets < count)


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(out_ptr + offsets, tl.sigmoid(x), mask=offsets < count)


def kernel_of(kind):
    match kind:
        case Kind.RELU:
            return relu_kernel
        case Kind.SIGMOID:
            return sigmoid_kernel


def computed(kind, x):
    out = torch.empty_like(x)
    kernel_of(kind)[(triton.cdiv(count := x.numel(), 256),)](x, out, count, BLOCK=256)
    return out


@torch.fx.wrap
def both(x, y):
    return computed(Kind.RELU, x), computed(Kind.SIGMOID, y)


def replacement_func():
    return both
