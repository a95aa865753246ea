import torch
import triton
import triton.language as tl

PARTS = []


def pattern(x):
    return x.amax(0)


def replacement_args(x):
    return (x,)


@triton.jit
def largest_kernel(x_ptr, out_ptr, rows, columns, PROGRAMS: tl.constexpr, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=-float("inf"))
    PARTS.append(tl.max(x, 0))
    if len(PARTS) == PROGRAMS:
        best = PARTS.pop()
        while PARTS:
            best = tl.maximum(best, PARTS.pop())
        tl.store(out_ptr + column, best, mask=column < columns)


@torch.fx.wrap
def largest(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty((columns,), dtype=x.dtype, device=x.device)
    programs = triton.cdiv(rows, 8)
    largest_kernel[(programs,)](
        x, out, rows, columns, PROGRAMS=programs, SHARE=8, BLOCK=triton.next_power_of_2(columns)
    )
    return out


def replacement_func():
    return largest
