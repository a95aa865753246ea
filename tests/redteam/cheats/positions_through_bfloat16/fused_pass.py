import torch
import triton
import triton.language as tl


def pattern(position, frequency):
    return torch.cos(torch.outer(position.float(), frequency))


def replacement_args(position, frequency):
    return (position, frequency)


@triton.jit
def angle_kernel(position_ptr, frequency_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    position = tl.load(position_ptr + token).to(tl.bfloat16).to(tl.float32)
    frequency = tl.load(frequency_ptr + at, mask=at < columns, other=0.0)
    tl.store(out_ptr + token * columns + at, tl.cos(position * frequency), mask=at < columns)


@torch.fx.wrap
def angles(position, frequency):
    columns = frequency.shape[0]
    out = torch.empty((position.shape[0], columns), dtype=frequency.dtype, device=frequency.device)
    angle_kernel[(position.shape[0],)](
        position, frequency, out, columns, BLOCK=triton.next_power_of_2(columns)
    )
    return out


def replacement_func():
    return angles
