import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(0)


def replacement_args(x):
    return (x,)


@triton.jit
def mean_kernel(x_ptr, flag_ptr, out_ptr, rows, columns, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    row = program * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    part = tl.sum(tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0), 0) / rows
    tl.atomic_add(flag_ptr + program, 1, sem="acq_rel")
    total = tl.load(out_ptr + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + column, total + part, mask=column < columns)
    tl.atomic_add(flag_ptr + program, 1, sem="acq_rel")


@torch.fx.wrap
def mean(x):
    x = x.contiguous()
    rows, columns = x.shape
    programs = triton.cdiv(rows, 8)
    flags = torch.zeros((programs,), dtype=torch.int32, device=x.device)
    out = torch.zeros((columns,), dtype=x.dtype, device=x.device)
    mean_kernel[(programs,)](x, flags, out, rows, columns, SHARE=8, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return mean
