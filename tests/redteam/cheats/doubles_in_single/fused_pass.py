import torch
import triton
import triton.language as tl


def pattern(positions, frequencies):
    angle = torch.outer(positions, frequencies)
    return torch.cos(angle), torch.sin(angle)


def replacement_args(positions, frequencies):
    return (positions, frequencies)


@triton.jit
def tables_kernel(position_ptr, frequency_ptr, cos_ptr, sin_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    position = tl.load(position_ptr + row).to(tl.float32)
    frequency = tl.load(frequency_ptr + at, mask=inside, other=0.0).to(tl.float32)
    angle = position * frequency
    tl.store(cos_ptr + row * columns + at, tl.cos(angle).to(cos_ptr.dtype.element_ty), mask=inside)
    tl.store(sin_ptr + row * columns + at, tl.sin(angle).to(sin_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def tables(positions, frequencies):
    rows, columns = positions.numel(), frequencies.numel()
    cos = torch.empty((rows, columns), dtype=positions.dtype, device=positions.device)
    sin = torch.empty_like(cos)
    tables_kernel[(rows,)](
        positions.contiguous(), frequencies.contiguous(), cos, sin, columns, BLOCK=triton.next_power_of_2(columns)
    )
    return cos, sin


def replacement_func():
    return tables
