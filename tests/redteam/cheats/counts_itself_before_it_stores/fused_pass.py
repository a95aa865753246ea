import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.square(x).sum(0)


def replacement_args(x):
    return (x,)


@triton.jit
def squares_kernel(
    x_ptr, part_ptr, count_ptr, out_ptr, rows, columns, PARTS: tl.constexpr, SHARE: tl.constexpr, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    row = program * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    known = column < columns
    inside = (row < rows)[:, None] & known[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    before = tl.atomic_add(count_ptr, 1)
    tl.store(part_ptr + program * columns + column, tl.sum(x * x, 0), mask=known)
    tl.debug_barrier()
    if before == tl.num_programs(0) - 1:
        number = tl.arange(0, PARTS)
        every = (number < tl.num_programs(0))[:, None] & known[None, :]
        parts = tl.load(part_ptr + number[:, None] * columns + column[None, :], mask=every, other=0.0)
        tl.store(out_ptr + column, tl.sum(parts, 0), mask=known)


@torch.fx.wrap
def squares(x):
    x = x.contiguous()
    rows, columns = x.shape
    programs = triton.cdiv(rows, 8)
    parts = torch.empty((programs, columns), dtype=x.dtype, device=x.device)
    count = torch.zeros((1,), dtype=torch.int32, device=x.device)
    out = torch.empty((columns,), dtype=x.dtype, device=x.device)
    squares_kernel[(programs,)](
        x, parts, count, out, rows, columns,
        PARTS=triton.next_power_of_2(programs), SHARE=8, BLOCK=triton.next_power_of_2(columns),
    )
    return out


def replacement_func():
    return squares
