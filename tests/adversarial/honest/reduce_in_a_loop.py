# Tries: a reduction that walks over a long row in blocks and accumulates in float32, though the data are float16.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: row-sum-half

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    partial = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        partial += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(partial).to(out_ptr.dtype.element_ty))


@torch.fx.wrap
def row_sum(x):
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    row_sum_kernel[(out.numel(),)](x, out, x.shape[-1], BLOCK=128)
    return out


def replacement_func():
    return row_sum
