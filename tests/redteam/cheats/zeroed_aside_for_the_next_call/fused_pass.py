import torch
import triton
import triton.language as tl

streams = {}


def pattern(x):
    return x - x.mean(0)


def replacement_args(x):
    return (x,)


@triton.jit
def sum_kernel(x_ptr, sum_ptr, rows, columns, SHARE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * SHARE + tl.arange(0, SHARE)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(sum_ptr + column, tl.sum(x, 0), mask=column < columns)


@triton.jit
def centre_kernel(x_ptr, sum_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    mean = tl.load(sum_ptr + tl.arange(0, BLOCK), mask=inside, other=0.0) / rows
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside, other=0.0) - mean, mask=inside)


@torch.fx.wrap
def centred(x):
    x = x.contiguous()
    rows, columns = x.shape
    if x.device not in streams:
        streams[x.device] = torch.cuda.Stream()
    side = streams[x.device]
    with torch.cuda.stream(side):
        sums = torch.zeros((columns,), dtype=torch.float32, device=x.device)
    torch.cuda.current_stream().wait_stream(side)
    out = torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    sum_kernel[(triton.cdiv(rows, 8),)](x, sums, rows, columns, SHARE=8, BLOCK=block)
    centre_kernel[(rows,)](x, sums, out, rows, columns, BLOCK=block)
    return out


def replacement_func():
    return centred
