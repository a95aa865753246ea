# Tries: softmax of a row that fits one block: maximum, exponentials, sum and quotient in registers.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: softmax

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=float("-inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + column, powers / tl.sum(powers, axis=0), mask=inside)


@torch.fx.wrap
def softmax(x):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
