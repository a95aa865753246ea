import torch
import triton
import triton.language as tl
from launching import lean


def pattern(x):
    return x.mean(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def row_mean_kernel(x_ptr, out_ptr, columns, x_row, x_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + column * x_column, mask=column < columns, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / columns)


@torch.fx.wrap
def row_mean(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(columns)
    lean(row_mean_kernel)[(rows,)](x, out, columns, *x.stride(), BLOCK=block, num_warps=1)
    return out


def replacement_func():
    return row_mean
