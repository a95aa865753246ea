import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.sort(x, dim=-1)[0]


def replacement_args(x):
    return (x,)


@triton.jit
def flip_negative(bits):
    # floats as integers: below zero the order of the magnitude is turned round; its own inverse
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def sort_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * cols + col, mask=mask, other=0.0)
    key = flip_negative(x.to(tl.int32, bitcast=True))
    # every NaN is the largest key, whose bits are a NaN; padding is the same, and is not stored
    key = tl.where((x == x) & mask, key, 0x7FFFFFFF)
    key = tl.sort(key)
    y = flip_negative(key).to(tl.float32, bitcast=True)
    tl.store(y_ptr + row * cols + col, y, mask=mask)


@torch.fx.wrap
def sorted_rows(x):
    x = x.contiguous()
    rows, cols = x.shape
    y = torch.empty_like(x)
    sort_kernel[(triton.cdiv(rows, 4),)](x, y, rows, cols, ROWS=4, BLOCK=triton.next_power_of_2(cols), num_warps=4)
    return y


def replacement_func():
    return sorted_rows
