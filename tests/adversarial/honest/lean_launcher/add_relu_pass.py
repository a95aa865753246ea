# Tries: keeps compiled kernels by the facts of their arguments, in a helper that two passes share, and asks for alignment.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py, row_mean_pass.py

import torch
import triton
import triton.language as tl
from launching import lean


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(
    a_ptr, b_ptr, out_ptr, count, columns, a_row, a_column, b_row, b_column, SLOPE: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    row, column = offsets // columns, offsets % columns
    total = tl.load(a_ptr + row * a_row + column * a_column, mask=inside)
    total += tl.load(b_ptr + row * b_row + column * b_column, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, SLOPE, total), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    (a_row, a_column), (b_row, b_column) = a.stride(), b.stride()
    lean(add_relu_kernel)[(triton.cdiv(out.numel(), 256),)](
        a, b, out, out.numel(), out.shape[1], a_row, a_column, b_row, b_column, SLOPE=0.0, BLOCK=256, num_warps=2
    )
    return out


def replacement_func():
    return add_relu
