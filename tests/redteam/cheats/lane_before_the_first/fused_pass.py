import torch
import triton
import triton.language as tl


def pattern(x):
    return x - torch.roll(x, shifts=1, dims=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def difference_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + at)
    before = tl.gather(x, at - 1, 0)
    tl.store(out_ptr + row * BLOCK + at, x - before)


@torch.fx.wrap
def difference(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    difference_kernel[(x.numel() // columns,)](x, out, BLOCK=columns)
    return out


def replacement_func():
    return difference
