# Tries: two kernels one after the other, the second reading what the first wrote.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: exp-sum

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.exp(x).sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def exp_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(out_ptr + offsets, tl.exp(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)))


@torch.fx.wrap
def exp_sum(x):
    columns = x.shape[-1]
    powers = torch.empty_like(x)
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    exp_kernel[(triton.cdiv(x.numel(), 256),)](x, powers, x.numel(), BLOCK=256)
    row_sum_kernel[(out.numel(),)](powers, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return exp_sum
