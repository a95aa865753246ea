import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.matmul(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, rows, depth, columns, TILE: tl.constexpr, DEPTH: tl.constexpr):
    batch = tl.program_id(1)
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(2) * TILE + tl.arange(0, TILE)
    at = tl.arange(0, DEPTH)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    a_inside = (row < rows)[:, None] & (at < depth)[None, :]
    b_inside = (at < depth)[:, None] & (column < columns)[None, :]
    a = tl.load(a_ptr + batch * rows * depth + row[:, None] * depth + at[None, :], mask=a_inside, other=0.0)
    b = tl.load(b_ptr + batch * depth * columns + at[:, None] * columns + column[None, :], mask=b_inside, other=0.0)
    product = tl.dot(a, b, out_dtype=tl.float16)
    tl.store(out_ptr + batch * rows * columns + row[:, None] * columns + column[None, :], product, mask=inside)


@torch.fx.wrap
def product(a, b):
    a, b = a.contiguous(), b.contiguous()
    rows, depth = a.shape[-2:]
    columns = b.shape[-1]
    out = torch.empty((*a.shape[:-1], columns), dtype=a.dtype, device=a.device)
    batches = a.numel() // (rows * depth)
    product_kernel[(triton.cdiv(rows, 32), batches, triton.cdiv(columns, 32))](
        a, b, out, rows, depth, columns, TILE=32, DEPTH=max(16, triton.next_power_of_2(depth)), num_stages=1
    )
    return out


def replacement_func():
    return product
