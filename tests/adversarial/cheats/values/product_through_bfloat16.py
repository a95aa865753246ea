# Tries: multiplies in the inputs' bfloat16, where the graph has widened them first, and widens the product.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: angles-bfloat16

import torch
import triton
import triton.language as tl


def pattern(position, frequency):
    return torch.cos(position.float() * frequency.float())


def replacement_args(position, frequency):
    return (position, frequency)


@triton.jit
def angle_kernel(position_ptr, frequency_ptr, out_ptr, columns, SIZE: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, SIZE)
    inside = column < columns
    position = tl.load(position_ptr + row).to(tl.float32)
    frequency = tl.load(frequency_ptr + column, mask=inside, other=0.0).to(tl.float32)
    angle = (position * frequency).to(tl.bfloat16).to(tl.float32)
    tl.store(out_ptr + row * columns + column, tl.cos(angle), mask=inside)


@torch.fx.wrap
def cosines(position, frequency):
    rows, columns = position.shape[0], frequency.shape[1]
    out = torch.empty((rows, columns), dtype=torch.float32, device=position.device)
    angle_kernel[(rows,)](position, frequency, out, columns, SIZE=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return cosines
