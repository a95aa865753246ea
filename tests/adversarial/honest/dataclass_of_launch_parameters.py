# Tries: a frozen dataclass holds the parameters of a launch, chosen by the size.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: row-sum

from dataclasses import dataclass

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@dataclass(frozen=True)
class Launch:
    """block: columns that a program reads at once. warps: of a program."""

    block: int
    warps: int

    @classmethod
    def of(cls, columns):
        block = max(triton.next_power_of_2(columns), 16)
        return cls(block, warps=1 if block < 512 else 4)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)))


@torch.fx.wrap
def row_sum(x):
    launch = Launch.of(x.shape[-1])
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    row_sum_kernel[(out.numel(),)](x, out, x.shape[-1], BLOCK=launch.block, num_warps=launch.warps)
    return out


def replacement_func():
    return row_sum
