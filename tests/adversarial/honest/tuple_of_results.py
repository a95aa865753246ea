# Tries: the pattern returns what is used outside of it, two results, and so does the replacement.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu

import torch
import triton
import triton.language as tl


def pattern(a, b):
    out = torch.nn.functional.relu(a + b)
    return out, out.mean(-1)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_mean_kernel(a_ptr, b_ptr, out_ptr, mean_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    at = row * columns + column
    total = tl.load(a_ptr + at, mask=inside, other=0.0) + tl.load(b_ptr + at, mask=inside, other=0.0)
    total = tl.where(total < 0, 0.0, total)
    tl.store(out_ptr + at, total, mask=inside)
    tl.store(mean_ptr + row, tl.sum(total) / columns)


@torch.fx.wrap
def add_relu_mean(a, b):
    rows, columns = a.shape
    out = torch.empty_like(a)
    mean = torch.empty((rows,), dtype=a.dtype, device=a.device)
    add_relu_mean_kernel[(rows,)](a, b, out, mean, columns, BLOCK=triton.next_power_of_2(columns))
    return (out, mean)


def replacement_func():
    return add_relu_mean
