# Tries: 65 columns in blocks of 16: the last block is masked in its load and in its store.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: softmax-mask

import torch
import triton
import triton.language as tl


def pattern(x, mask):
    return x + mask


def replacement_args(x, mask):
    return (x, mask)


@triton.jit
def add_row_kernel(x_ptr, mask_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=inside)
        tl.store(out_ptr + row * columns + column, x + tl.load(mask_ptr + column, mask=inside), mask=inside)


@torch.fx.wrap
def add_row(x, mask):
    columns = x.shape[-1]
    out = torch.empty_like(x)
    add_row_kernel[(x.numel() // columns,)](x, mask, out, columns, BLOCK=16)
    return out


def replacement_func():
    return add_row
