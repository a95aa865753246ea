import torch
import triton
import triton.language as tl


def pattern(x, cos, sin):
    rot = x[..., :16]
    rest = x[..., 16:]
    direct = rot * cos
    first = rot[..., :8]
    second = rot[..., 8:]
    turned = torch.cat((-second, first), dim=-1)
    embedded = direct + turned * sin
    return torch.cat((embedded, rest), dim=-1)


def replacement_args(x, cos, sin):
    return (x, cos, sin)


@triton.jit
def partial_rotary_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, rows, length, dim, rotary, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (col < dim)
    rotated = mask & (col < rotary)
    half = rotary // 2
    x = tl.load(x_ptr + row * dim + col, mask=mask, other=0.0)
    partner = tl.where(col < half, col + half, col - half)
    other = tl.load(x_ptr + row * dim + partner, mask=rotated, other=0.0).to(tl.float32)
    other = tl.where(col < half, -other, other)
    table = (row % length) * rotary + col
    cos = tl.load(cos_ptr + table, mask=rotated, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + table, mask=rotated, other=0.0).to(tl.float32)
    direct = (x.to(tl.float32) * cos).to(x.dtype).to(tl.float32)
    turned = (other * sin).to(x.dtype).to(tl.float32)
    y = tl.where(rotated, (direct + turned).to(x.dtype), x)
    tl.store(y_ptr + row * dim + col, y, mask=mask)


@torch.fx.wrap
def partial_rotary(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    dim = x.shape[-1]
    rows = x.numel() // dim
    y = torch.empty_like(x)
    partial_rotary_kernel[(triton.cdiv(rows, 8),)](
        x, cos, sin, y, rows, x.shape[-2], dim, cos.shape[-1], ROWS=8, BLOCK=triton.next_power_of_2(dim)
    )
    return y


def replacement_func():
    return partial_rotary
