import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.cumsum(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n_rows, n_cols, IS_FLOAT: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    offs = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    if IS_FLOAT:
        x = x.to(tl.float32)
    else:
        x = x.to(tl.int64)
    y = tl.cumsum(x, axis=1)
    tl.store(y_ptr + offs, y.to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def cumsum_last(x):
    x = x.contiguous()
    is_float = x.dtype.is_floating_point
    y = torch.empty(x.shape, dtype=x.dtype if is_float else torch.int64, device=x.device)
    n_cols = x.shape[-1]
    n_rows = x.numel() // n_cols
    cols = triton.next_power_of_2(n_cols)
    rows = max(1, min(8, 2048 // cols))
    cumsum_kernel[(triton.cdiv(n_rows, rows),)](x, y, n_rows, n_cols, IS_FLOAT=is_float, ROWS=rows, COLS=cols)
    return y


def replacement_func():
    return cumsum_last
