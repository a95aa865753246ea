# Tries: warns once where a slower path is taken.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: square

import warnings

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x - y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def subtract_kernel(x_ptr, y_ptr, out_ptr, columns, x0, x1, y0, y1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x0 + column * x1, mask=inside)
    y = tl.load(y_ptr + row * y0 + column * y1, mask=inside)
    tl.store(out_ptr + row * columns + column, x - y, mask=inside)


@torch.fx.wrap
def subtract(x, y):
    if x.stride(-1) != 1 or y.stride(-1) != 1:
        warnings.warn("subtract: memory is read with a stride", RuntimeWarning, stacklevel=2)
    rows, columns = x.shape
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(columns)
    subtract_kernel[(rows,)](x, y, out, columns, *x.stride(), *y.stride(), BLOCK=block)
    return out


def replacement_func():
    return subtract
