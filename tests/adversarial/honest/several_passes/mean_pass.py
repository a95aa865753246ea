import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def row_mean_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x) / columns)


@torch.fx.wrap
def row_mean(x):
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    columns = x.shape[-1]
    row_mean_kernel[(out.numel(),)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return row_mean
