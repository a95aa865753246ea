# Tries: a mask that is broadcast over heads and rows is added within the softmax's kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: softmax-mask

import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def masked_softmax_kernel(scores_ptr, mask_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(scores_ptr + row * columns + column, mask=inside, other=float("-inf"))
    x += tl.load(mask_ptr + column, mask=inside, other=0.0)
    x = tl.exp(x - tl.max(x))
    tl.store(out_ptr + row * columns + column, x / tl.sum(x), mask=inside)


@torch.fx.wrap
def masked_softmax(scores, mask):
    columns = scores.shape[-1]
    assert mask.numel() == columns
    out = torch.empty_like(scores)
    block = triton.next_power_of_2(columns)
    masked_softmax_kernel[(scores.numel() // columns,)](scores, mask, out, columns, BLOCK=block)
    return out


def replacement_func():
    return masked_softmax
