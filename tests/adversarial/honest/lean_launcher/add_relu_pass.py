# Tries: keeps compiled kernels by the facts of their arguments, in a helper that two passes share, and asks for alignment.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py, row_mean_pass.py

import torch
import triton
import triton.language as tl
from launching import Launch, facts


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


LAUNCHES = {}


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    key = facts(a, b)
    launch = LAUNCHES.get(key)
    if launch is None:
        launch = LAUNCHES[key] = planned(a, b, out)
    launch(a, b, out)
    return out


def planned(a, b, out):
    (a_row, a_column), (b_row, b_column) = a.stride(), b.stride()
    constants = {
        "SLOPE": 0.0, "BLOCK": 256, "count": out.numel(), "columns": out.shape[1],
        "a_row": a_row, "a_column": a_column, "b_row": b_row, "b_column": b_column,
    }
    return Launch(add_relu_kernel, (triton.cdiv(out.numel(), 256),), (a, b, out), constants, num_warps=2)


def replacement_func():
    return add_relu
