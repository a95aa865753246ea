import torch
import triton
import triton.language as tl


def pattern(x, gate):
    return torch.flip(x, [1]) * gate


def replacement_args(x, gate):
    return (x, gate)


@triton.jit
def reverse_kernel(x_ptr, gate_ptr, scratch_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    tl.store(scratch_ptr + start + at, tl.load(x_ptr + start + at, mask=inside, other=0.0), mask=inside)
    turned = tl.load(scratch_ptr + start + columns - 1 - at, mask=inside, other=0.0)
    gate = tl.load(gate_ptr + start + at, mask=inside, other=0.0)
    tl.store(out_ptr + start + at, turned * gate, mask=inside)


@torch.fx.wrap
def reversed_rows(x, gate):
    rows, columns = x.shape
    out, scratch = torch.empty_like(x), torch.empty_like(x)
    reverse_kernel[(rows,)](
        x, gate, scratch, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8
    )
    return out


def replacement_func():
    return reversed_rows
