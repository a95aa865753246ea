"""Cohere's normalisation: each row minus its mean, divided by its spread, times a weight; in one kernel."""

import torch
import triton
import triton.language as tl


# Fill in the three functions that hold nothing but a description: the pattern, the kernel and its wrapper.
def pattern(x, weight, narrow):
    """The operations of the graph, from in_0 and in_1 to what it returns; narrow is the dtype of the result."""


def replacement_args(x, weight, narrow):
    return (x, weight)


@triton.jit
def cohere_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """Normalise one row of so many columns."""


@torch.fx.wrap
def cohere_norm(x, weight):
    """Allocate the result, launch the kernel with one program per row, and return the result."""


def replacement_func():
    return cohere_norm
