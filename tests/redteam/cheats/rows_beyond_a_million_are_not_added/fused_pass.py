import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum((0, 1))


def replacement_args(x):
    return (x,)


@triton.jit
def bias_kernel(x_ptr, out_ptr, rows, columns, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(out_ptr + column, tl.sum(x, 0), mask=column < columns)


@torch.fx.wrap
def bias_gradient(x):
    x = x.contiguous()
    columns = x.shape[-1]
    rows = x.shape[0] * x.shape[1]
    out = torch.zeros((columns,), dtype=x.dtype, device=x.device)
    programs = min(triton.cdiv(rows, 64), 16384)
    bias_kernel[(programs,)](x, out, rows, columns, SHARE=64, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return bias_gradient
