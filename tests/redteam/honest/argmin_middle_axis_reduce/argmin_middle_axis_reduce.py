import torch
import triton
import triton.language as tl


def pattern(distances):
    return torch.argmin(distances, dim=1)


def replacement_args(distances):
    return (distances,)


@triton.jit
def first_minimum(value_a, index_a, value_b, index_b):
    earlier = index_a < index_b
    first = (value_a < value_b) | ((value_a == value_b) & earlier)
    # NaN counts as the smallest, and the first NaN wins
    first = first | ((value_a != value_a) & ((value_b == value_b) | earlier))
    return tl.where(first, value_a, value_b), tl.where(first, index_a, index_b)


@triton.jit
def argmin_kernel(x_ptr, out_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    batch = tl.program_id(1)
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    base = x_ptr + batch * n_rows * n_cols
    best = tl.full((COLS,), float("inf"), tl.float32)
    place = tl.full((COLS,), 2147483647, tl.int32)
    for start in range(0, n_rows, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        x = tl.load(base + rows[:, None] * n_cols + cols[None, :], mask=inside, other=float("inf")).to(tl.float32)
        index = tl.broadcast_to(rows[:, None], (ROWS, COLS))
        value, where = tl.reduce((x, index), 0, first_minimum)
        best, place = first_minimum(best, place, value, where)
    tl.store(out_ptr + batch * n_cols + cols, place.to(tl.int64), mask=cols < n_cols)


@torch.fx.wrap
def nearest(distances):
    x = distances.contiguous()
    batch, n_rows, n_cols = x.shape
    out = torch.empty((batch, n_cols), dtype=torch.int64, device=x.device)
    argmin_kernel[(triton.cdiv(n_cols, 32), batch)](x, out, n_rows, n_cols, ROWS=16, COLS=32)
    return out


def replacement_func():
    return nearest
