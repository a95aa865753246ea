import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.matmul(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, ROWS: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    column = tl.arange(0, COLUMNS)
    a = tl.load(a_ptr + row[:, None] * DEPTH + depth[None, :])
    b = tl.load(b_ptr + depth[:, None] * COLUMNS + column[None, :])
    tl.store(out_ptr + row[:, None] * COLUMNS + column[None, :], tl.dot(a, b))


@torch.fx.wrap
def product(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    product_kernel[(a.shape[0] // 16,)](a, b, out, ROWS=16, DEPTH=a.shape[1], COLUMNS=b.shape[1])
    return out


def replacement_func():
    return product
