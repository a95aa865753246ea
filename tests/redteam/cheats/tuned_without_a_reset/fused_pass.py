import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(0)


def replacement_args(x):
    return (x,)


@triton.autotune(
    configs=[triton.Config({"SHARE": 8}, num_warps=2), triton.Config({"SHARE": 16}, num_warps=4), triton.Config({"SHARE": 32}, num_warps=4)],
    key=["rows", "columns"],
)
@triton.jit
def sum_kernel(x_ptr, out_ptr, rows, columns, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(out_ptr + column, tl.sum(x, 0), mask=column < columns)


def grid_of(rows):
    return lambda meta: (triton.cdiv(rows, meta["SHARE"]),)


@torch.fx.wrap
def column_sums(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.zeros((columns,), dtype=x.dtype, device=x.device)
    sum_kernel[grid_of(rows)](x, out, rows, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return column_sums
