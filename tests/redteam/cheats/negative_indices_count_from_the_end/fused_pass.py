import torch
import triton
import triton.language as tl


def pattern(table, offsets):
    return table[offsets] * 0.125


def replacement_args(table, offsets):
    return (table, offsets)


@triton.jit
def rows_kernel(table_ptr, offset_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    offset = tl.load(offset_ptr + row)
    x = tl.load(table_ptr + offset * columns + column, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + column, x * 0.125, mask=inside)


@torch.fx.wrap
def rows(table, offsets):
    table, offsets = table.contiguous(), offsets.contiguous()
    columns = table.shape[-1]
    out = torch.empty((*offsets.shape, columns), dtype=table.dtype, device=table.device)
    rows_kernel[(offsets.numel(),)](table, offsets, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return rows
