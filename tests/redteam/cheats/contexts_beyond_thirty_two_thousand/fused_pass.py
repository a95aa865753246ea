import torch
import triton
import triton.language as tl


def pattern(positions, frequencies):
    angles = positions.float().unsqueeze(-1) * frequencies
    return angles.cos(), angles.sin()


def replacement_args(positions, frequencies):
    return (positions, frequencies)


@triton.jit
def rotary_kernel(position_ptr, frequency_ptr, cos_ptr, sin_ptr, width, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < width
    position = tl.load(position_ptr + token).to(tl.int16).to(tl.float32)
    angle = position * tl.load(frequency_ptr + at, mask=inside, other=0.0)
    tl.store(cos_ptr + token * width + at, tl.cos(angle), mask=inside)
    tl.store(sin_ptr + token * width + at, tl.sin(angle), mask=inside)


@torch.fx.wrap
def rotary_tables(positions, frequencies):
    positions, frequencies = positions.contiguous(), frequencies.contiguous()
    width = frequencies.shape[0]
    cos = torch.empty((*positions.shape, width), dtype=torch.float32, device=positions.device)
    sin = torch.empty_like(cos)
    rotary_kernel[(positions.numel(),)](
        positions, frequencies, cos, sin, width, BLOCK=triton.next_power_of_2(width)
    )
    return cos, sin


def replacement_func():
    return rotary_tables
