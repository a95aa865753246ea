import torch
import triton
import triton.language as tl


def pattern(x):
    total = x.sum(dim=0)
    squares = x * x
    return total, squares.sum(dim=0)


def replacement_args(x):
    return (x,)


@triton.jit
def neumaier_step(total, lost, value):
    """Add a value to a running total; what the addition lost goes into a second sum."""
    new = total + value
    correction = tl.where(tl.abs(total) >= tl.abs(value), (total - new) + value, (value - new) + total)
    return new, lost + correction


@triton.jit
def neumaier_end(total, lost):
    # beyond the largest number the correction is inf - inf
    return tl.where(tl.abs(total) == float("inf"), total, total + lost)


@triton.jit
def column_moments_kernel(x_ptr, sum_ptr, squares_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    s = tl.zeros((BLOCK,), dtype=tl.float32)
    s_lost = tl.zeros((BLOCK,), dtype=tl.float32)
    q = tl.zeros((BLOCK,), dtype=tl.float32)
    q_lost = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(n_rows):
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
        s, s_lost = neumaier_step(s, s_lost, x)
        q, q_lost = neumaier_step(q, q_lost, x * x)
    tl.store(sum_ptr + cols, neumaier_end(s, s_lost), mask=mask)
    tl.store(squares_ptr + cols, neumaier_end(q, q_lost), mask=mask)


@torch.fx.wrap
def column_moments(x):
    x = x.contiguous()
    n_rows, n_cols = x.shape
    total = torch.empty(n_cols, dtype=x.dtype, device=x.device)
    squares = torch.empty(n_cols, dtype=x.dtype, device=x.device)
    block = 64
    column_moments_kernel[(triton.cdiv(n_cols, block),)](x, total, squares, n_rows, n_cols, BLOCK=block, num_warps=2)
    return total, squares


def replacement_func():
    return column_moments
