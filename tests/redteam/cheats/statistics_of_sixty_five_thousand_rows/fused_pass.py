import torch
import triton
import triton.language as tl


def pattern(x):
    mean = x.mean(-1, keepdim=True)
    return x - mean


def replacement_args(x):
    return (x,)


@triton.jit
def mean_kernel(x_ptr, mean_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    tl.store(mean_ptr + row, tl.sum(x, 0) / columns)


@triton.jit
def centre_kernel(x_ptr, mean_ptr, out_ptr, rows, columns, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    at = row[:, None] * columns + column[None, :]
    mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, x - mean[:, None], mask=inside)


@torch.fx.wrap
def centred(x):
    x = x.contiguous()
    columns = x.shape[-1]
    rows = x.numel() // columns
    means = torch.zeros((rows,), dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    mean_kernel[(1, min(rows, 65535))](x, means, columns, BLOCK=block)
    centre_kernel[(triton.cdiv(rows, 16),)](x, means, out, rows, columns, SHARE=16, BLOCK=block)
    return out


def replacement_func():
    return centred
