# Tries: a reduction in which one program holds a whole row in registers.
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
def row_sum_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@torch.fx.wrap
def row_sum(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    row_sum_kernel[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return row_sum
