import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(0)


def replacement_args(x):
    return (x,)


@triton.jit
def split_kernel(
    x_ptr, part_ptr, count_ptr, out_ptr, rows, columns, PROGRAMS: tl.constexpr, SHARE: tl.constexpr, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    kept = column < columns
    part = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(SHARE):
        row = program * SHARE + step
        part += tl.load(x_ptr + row * columns + column, mask=kept & (row < rows), other=0.0)
    tl.store(part_ptr + program * columns + column, part, mask=kept)
    ticket = tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if ticket == PROGRAMS - 1:
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for other in range(PROGRAMS):
            total += tl.load(part_ptr + other * columns + column, mask=kept, other=0.0)
        tl.store(out_ptr + column, total, mask=kept)


@torch.fx.wrap
def column_sums(x):
    x = x.contiguous()
    rows, columns = x.shape
    programs = triton.cdiv(rows, 16)
    parts = torch.empty((programs, columns), dtype=torch.float32, device=x.device)
    count = torch.zeros((1,), dtype=torch.int32, device=x.device)
    out = torch.empty((columns,), dtype=x.dtype, device=x.device)
    split_kernel[(programs,)](
        x, parts, count, out, rows, columns, PROGRAMS=programs, SHARE=16, BLOCK=triton.next_power_of_2(columns), num_warps=8
    )
    return out


def replacement_func():
    return column_sums
