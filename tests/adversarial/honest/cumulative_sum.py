# Tries: a running sum along rows with tl.cumsum.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: cumsum

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.cumsum(x, -1)


def replacement_args(x):
    return (x,)


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + column, tl.cumsum(x, axis=0), mask=inside)


@torch.fx.wrap
def running_sum(x):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    cumsum_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return running_sum
