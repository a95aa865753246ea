# Tries: several programs per row add their part with atomics to a row of zeros.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: row-sum

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def part_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.atomic_add(out_ptr + row, tl.sum(x), sem="relaxed")


@torch.fx.wrap
def row_sum(x):
    rows, columns = x.shape
    out = torch.zeros((rows,), dtype=x.dtype, device=x.device)
    part_kernel[(rows, triton.cdiv(columns, 64))](x, out, columns, BLOCK=64)
    return out


def replacement_func():
    return row_sum
