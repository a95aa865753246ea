import torch
import triton
import triton.language as tl


def pattern(measured, expected):
    return torch.ne(measured, expected).sum(-1)


def replacement_args(measured, expected):
    return (measured, expected)


@triton.jit
def mismatch_kernel(a_ptr, b_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    a = tl.load(a_ptr + row * columns + at, mask=inside, other=0.0)
    b = tl.load(b_ptr + row * columns + at, mask=inside, other=0.0)
    differs = (a < b) | (a > b)
    tl.store(out_ptr + row, tl.sum(differs.to(tl.int64), 0))


@torch.fx.wrap
def mismatches(measured, expected):
    measured, expected = measured.contiguous(), expected.contiguous()
    rows, columns = measured.shape
    out = torch.empty((rows,), dtype=torch.int64, device=measured.device)
    mismatch_kernel[(rows,)](measured, expected, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return mismatches
