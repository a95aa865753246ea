# Tries: the pattern calls by keyword what the graph may have recorded by position.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: softmax

import torch
import triton
import triton.language as tl


def pattern(logits):
    return torch.nn.functional.softmax(input=logits, dim=-1, dtype=None)


def replacement_args(logits):
    return (logits,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + start + column, mask=column < columns, other=float("-inf"))
    x = tl.exp(x - tl.max(x))
    tl.store(out_ptr + start + column, x / tl.sum(x), mask=column < columns)


@torch.fx.wrap
def softmax(logits):
    out = torch.empty_like(logits)
    columns = logits.size(-1)
    softmax_kernel[(logits.numel() // columns,)](logits, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
