import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.cumsum(x, dim=1)


def replacement_args(x):
    return (x,)


@triton.jit
def running_kernel(x_ptr, out_ptr, steps, columns, BLOCK: tl.constexpr):
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    start = tl.program_id(0) * steps * columns
    tl.store(out_ptr + start + column, tl.load(x_ptr + start + column, mask=inside, other=0.0), mask=inside)
    for step in tl.range(1, steps, num_stages=3):
        at = start + step * columns + column
        before = tl.load(out_ptr + at - columns, mask=inside, other=0.0)
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        tl.store(out_ptr + at, before + x, mask=inside)


@torch.fx.wrap
def running(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    batch, steps, columns = x.shape
    running_kernel[(batch, triton.cdiv(columns, 128))](x, out, steps, columns, BLOCK=128)
    return out


def replacement_func():
    return running
