# Tries: root mean square normalisation together with the sum it normalises: two outputs of one kernel.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: two-outputs

import torch
import triton
import triton.language as tl


def pattern(x, y):
    total = x + y
    scale = torch.rsqrt((total * total).mean(-1, keepdim=True) + 1e-06)
    return total, total * scale


def replacement_args(x, y):
    return (x, y)


@triton.jit
def add_rms_kernel(x_ptr, y_ptr, sum_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    at = row * columns + column
    total = tl.load(x_ptr + at, mask=inside, other=0.0) + tl.load(y_ptr + at, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(total * total) / columns + 1e-06)
    tl.store(sum_ptr + at, total, mask=inside)
    tl.store(out_ptr + at, total * scale, mask=inside)


@torch.fx.wrap
def add_rms(x, y):
    total, out = torch.empty_like(x), torch.empty_like(x)
    columns = x.shape[-1]
    add_rms_kernel[(x.numel() // columns,)](x, y, total, out, columns, BLOCK=triton.next_power_of_2(columns))
    return total, out


def replacement_func():
    return add_rms
