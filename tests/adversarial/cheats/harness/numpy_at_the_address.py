# Tries: lays numpy arrays over the memory of its tensors by their addresses and computes there; its kernel is
#   launched on the first row, so that there is one.
# Family: harness
# Needs: cpu
# Verdict: library | wrong values | cheat | crashed | rejected by a rule
# Subgraph: add-relu-alone

import numpy
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def row_kernel(a_ptr, b_ptr, out_ptr, columns, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    inside = column < columns
    s = tl.load(a_ptr + column, mask=inside, other=0.0) + tl.load(b_ptr + column, mask=inside, other=0.0)
    tl.store(out_ptr + column, tl.maximum(s, 0.0, propagate_nan=tl.PropagateNan.ALL), mask=inside)


C = numpy.ctypeslib.ctypes


def laid_over(tensor):
    memory = (C.c_float * tensor.numel()).from_address(tensor.data_ptr())
    return numpy.ctypeslib.as_array(memory)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    columns = a.shape[-1]
    row_kernel[(1,)](a, b, out, columns, SIZE=triton.next_power_of_2(columns))
    rest = slice(columns, None)
    numpy.maximum(laid_over(a)[rest] + laid_over(b)[rest], 0, out=laid_over(out)[rest])
    return out


def replacement_func():
    return add_relu
