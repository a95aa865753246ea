# Tries: softmax in two sweeps: the running maximum rescales the running sum, as in flash attention.
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
def online_softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start_of_row = tl.program_id(0) * columns
    highest = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start_of_row + column, mask=column < columns, other=float("-inf"))
        higher = tl.maximum(highest, tl.max(x))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher))
        highest = higher
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + start_of_row + column, mask=inside)
        tl.store(out_ptr + start_of_row + column, tl.exp(x - highest) / total, mask=inside)


@torch.fx.wrap
def softmax(x):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    online_softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=64)
    return out


def replacement_func():
    return softmax
