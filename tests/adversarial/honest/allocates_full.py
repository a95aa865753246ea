# Tries: starts maxima from torch.full with minus infinity, which tiles then raise by atomics.
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
def row_max_kernel(x_ptr, max_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tile = tl.program_id(1)
    column = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    tl.atomic_max(max_ptr + row, tl.max(x))


@triton.jit
def softmax_kernel(x_ptr, max_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=float("-inf"))
    powers = tl.exp(x - tl.load(max_ptr + row))
    tl.store(out_ptr + row * columns + column, powers / tl.sum(powers), mask=inside)


@torch.fx.wrap
def softmax(x):
    columns = x.shape[-1]
    rows = x.numel() // columns
    maxima = torch.full((rows,), float("-inf"), dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    row_max_kernel[(rows, triton.cdiv(columns, 64))](x, maxima, columns, BLOCK=64)
    softmax_kernel[(rows,)](x, maxima, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
