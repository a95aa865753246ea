# Tries: a two-dimensional grid: rows on one axis, tiles of columns on the other.
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
def add_relu_kernel(a_ptr, b_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, tile = tl.program_id(0), tl.program_id(1)
    column = tile * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    at = row * columns + column
    total = tl.load(a_ptr + at, mask=inside) + tl.load(b_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(total < 0, 0.0, total), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    rows, columns = a.shape
    out = torch.empty_like(a)
    add_relu_kernel[(rows, triton.cdiv(columns, 32))](a, b, out, columns, BLOCK=32)
    return out


def replacement_func():
    return add_relu
