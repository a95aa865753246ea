import torch
import triton
import triton.language as tl


def pattern(a, b, eps):
    return torch.nn.functional.cosine_similarity(a, b, dim=-1, eps=eps)


def replacement_args(a, b, eps):
    return (a, b, eps)


@triton.jit
def clamped_norm(x, eps):
    norm = tl.sqrt_rn(tl.sum(x * x, axis=1))
    return tl.where(norm < eps, eps, norm)       # NaN stays


@triton.jit
def cosine_kernel(a_ptr, b_ptr, out_ptr, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (col[None, :] < cols)
    at = row[:, None] * cols + col[None, :]
    a = tl.load(a_ptr + at, mask=mask, other=0.0)
    b = tl.load(b_ptr + at, mask=mask, other=0.0)
    a = a / clamped_norm(a, eps)[:, None]
    b = b / clamped_norm(b, eps)[:, None]
    tl.store(out_ptr + row, tl.sum(a * b, axis=1), mask=row < rows)


@torch.fx.wrap
def cosine(a, b, eps):
    a = a.contiguous()
    b = b.contiguous()
    rows, cols = a.shape
    out = torch.empty((rows,), dtype=a.dtype, device=a.device)
    cosine_kernel[(triton.cdiv(rows, 2),)](a, b, out, rows, cols, eps, ROWS=2, BLOCK=triton.next_power_of_2(cols), num_warps=2)
    return out


def replacement_func():
    return cosine
