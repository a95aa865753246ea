# Tries: a fast kernel where memory is contiguous, one that goes by strides where it is not.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: square

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return x - y


def replacement_args(x, y):
    return (x, y)


@triton.jit
def flat_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    difference = tl.load(x_ptr + offsets, mask=inside) - tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, difference, mask=inside)


@triton.jit
def strided_kernel(x_ptr, y_ptr, out_ptr, columns, x0, x1, y0, y1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * x0 + column * x1, mask=inside)
    y = tl.load(y_ptr + row * y0 + column * y1, mask=inside)
    tl.store(out_ptr + row * columns + column, x - y, mask=inside)


@torch.fx.wrap
def difference(x, y):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.is_contiguous() and y.is_contiguous():
        flat_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    else:
        rows, columns = x.shape
        block = triton.next_power_of_2(columns)
        strided_kernel[(rows,)](x, y, out, columns, *x.stride(), *y.stride(), BLOCK=block)
    return out


def replacement_func():
    return difference
