import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (at < columns)[None, :]
    place = row[:, None] * columns + at[None, :]
    x = tl.load(x_ptr + place, mask=inside, other=-float("inf"))
    powers = tl.exp(x - tl.max(x))
    tl.store(out_ptr + place, powers / tl.sum(powers, 1)[:, None], mask=inside)


@torch.fx.wrap
def softmax(x):
    x = x.contiguous()
    columns = x.shape[-1]
    rows = x.numel() // columns
    out = torch.empty_like(x)
    softmax_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, ROWS=4, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
