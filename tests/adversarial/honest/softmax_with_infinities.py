# Tries: masked places count as minus infinity, as eager fills them; where all are masked the result is NaN there
#   too.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: softmax-fill

import torch
import triton
import triton.language as tl


def pattern(x, hidden):
    return torch.nn.functional.softmax(x.masked_fill(hidden, float("-inf")), dim=-1)


def replacement_args(x, hidden):
    return (x, hidden)


@triton.jit
def softmax_of_shown_kernel(x_ptr, hidden_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    hidden = tl.load(hidden_ptr + row * columns + column, mask=inside, other=1)
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    x = tl.where(hidden != 0, float("-inf"), x)
    powers = tl.exp(x - tl.max(x))
    tl.store(out_ptr + row * columns + column, powers / tl.sum(powers), mask=inside)


@torch.fx.wrap
def softmax_of_shown(x, hidden):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    block = triton.next_power_of_2(columns)
    softmax_of_shown_kernel[(x.numel() // columns,)](x, hidden, out, columns, BLOCK=block)
    return out


def replacement_func():
    return softmax_of_shown
