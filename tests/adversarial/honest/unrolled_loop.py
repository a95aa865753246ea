# Tries: a loop that is unrolled when compiling, with tl.static_range.
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


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in tl.static_range(PARTS):
        column = part * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(total))


@torch.fx.wrap
def row_sum(x):
    columns = x.shape[-1]
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    row_sum_kernel[(out.numel(),)](x, out, columns, PARTS=triton.cdiv(columns, 64), BLOCK=64)
    return out


def replacement_func():
    return row_sum
