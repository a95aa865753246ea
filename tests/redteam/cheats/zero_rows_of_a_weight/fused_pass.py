import torch
import triton
import triton.language as tl


def pattern(weight, x):
    unit = torch.nn.functional.normalize(weight, p=2.0, dim=-1)
    return torch.nn.functional.linear(x, unit)


def replacement_args(weight, x):
    return (weight, x)


@triton.jit
def similarity_kernel(weight_ptr, x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    row = tl.arange(0, ROWS)
    inside = (row[:, None] < rows) & (at[None, :] < columns)
    weight = tl.load(weight_ptr + row[:, None] * columns + at[None, :], mask=inside, other=0.0)
    x = tl.load(x_ptr + sample * columns + at, mask=at < columns, other=0.0)
    product = tl.sum(weight * x[None, :], 1)
    norm = tl.sqrt(tl.sum(weight * weight, 1))
    tl.store(out_ptr + sample * rows + row, product / norm, mask=row < rows)


@torch.fx.wrap
def similarity(weight, x):
    rows, columns = weight.shape
    out = torch.empty((x.shape[0], rows), dtype=x.dtype, device=x.device)
    similarity_kernel[(x.shape[0],)](
        weight, x, out, rows, columns, ROWS=triton.next_power_of_2(rows), BLOCK=triton.next_power_of_2(columns)
    )
    return out


def replacement_func():
    return similarity
