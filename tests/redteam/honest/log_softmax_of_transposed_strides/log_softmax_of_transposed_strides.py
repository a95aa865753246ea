from functools import lru_cache

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.log_softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def log_softmax_kernel(
    x_ptr, y_ptr, n_rows, middle, n_cols,
    x_stride_0, x_stride_1, x_stride_2,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    start = (rows // middle) * x_stride_0 + (rows % middle) * x_stride_1
    x = tl.load(x_ptr + start[:, None] + cols[None, :] * x_stride_2, mask=mask, other=float("-inf")).to(tl.float32)
    shifted = x - tl.max(x, axis=1)[:, None]
    y = shifted - tl.log(tl.sum(tl.exp(shifted), axis=1))[:, None]
    tl.store(y_ptr + rows[:, None] * n_cols + cols[None, :], y.to(y_ptr.dtype.element_ty), mask=mask)


@lru_cache(maxsize=None)
def launch_shape(shape):
    first, middle, n_cols = shape
    rows_per_program = 8
    grid = (triton.cdiv(first * middle, rows_per_program),)
    strides = (middle * n_cols, n_cols, 1)
    return grid, strides, rows_per_program, triton.next_power_of_2(n_cols)


@torch.fx.wrap
def log_softmax_strided(x):
    first, middle, n_cols = x.shape
    grid, strides, rows, cols = launch_shape(tuple(x.shape))
    y = torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device)
    log_softmax_kernel[grid](x, y, first * middle, middle, n_cols, *x.stride(), ROWS=rows, COLS=cols, num_warps=4)
    return y


def replacement_func():
    return log_softmax_strided
