# Tries: allocates with torch.empty, of shape, dtype and device taken from the input.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: outer

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.outer(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def outer_kernel(a_ptr, b_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    product = tl.load(a_ptr + row) * tl.load(b_ptr + column, mask=inside)
    tl.store(out_ptr + row * columns + column, product, mask=inside)


@torch.fx.wrap
def outer(a, b):
    rows, columns = a.shape[0], b.shape[0]
    out = torch.empty((rows, columns), dtype=a.dtype, device=a.device)
    outer_kernel[(rows,)](a, b, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return outer
