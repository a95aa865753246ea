# Tries: block size and number of warps follow from the arguments by heuristics.
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


@triton.heuristics(
    {
        "BLOCK": lambda args: triton.next_power_of_2(args["columns"]),
        "num_warps": lambda args: 4 if args["columns"] <= 1024 else 8,
    }
)
@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x))


@torch.fx.wrap
def row_sum(x):
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    row_sum_kernel[(out.numel(),)](x, out, x.shape[-1])
    return out


def replacement_func():
    return row_sum
