# Tries: the mask of the store keeps one column more than a row has: each row writes the first element of the next,
#   which comes right only where the next row is written later.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity | crashed
# Subgraph: add-relu-alone

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def row_kernel(a_ptr, b_ptr, out_ptr, columns, SIZE: tl.constexpr):
    start = tl.program_id(0) * columns
    column = tl.arange(0, SIZE)
    inside = column < columns
    s = tl.load(a_ptr + start + column, mask=inside, other=0.0)
    s += tl.load(b_ptr + start + column, mask=inside, other=0.0)
    tl.store(out_ptr + start + column, tl.where(s < 0, 0.0, s), mask=column <= columns)


@torch.fx.wrap
def add_relu(a, b):
    rows, columns = a.shape
    # room for the last row's surplus
    out = torch.empty((rows * columns + 1,), dtype=a.dtype, device=a.device)
    row_kernel[(rows,)](a, b, out, columns, SIZE=triton.next_power_of_2(columns + 1))
    return out[: rows * columns].view(rows, columns)


def replacement_func():
    return add_relu
