import torch
import triton
import triton.language as tl


def pattern(x):
    return x.amax(1)


def replacement_args(x):
    return (x,)


@triton.jit
def maximum_kernel(x_ptr, out_ptr, steps, columns, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    out_at = out_ptr + sample * columns + column
    for step in range(steps):
        x = tl.load(x_ptr + (sample * steps + step) * columns + column, mask=inside, other=0.0)
        best = tl.load(out_at, mask=inside, other=0.0)
        tl.store(out_at, tl.where(best > x, best, x), mask=inside)


@torch.fx.wrap
def maximum(x):
    x = x.contiguous()
    samples, steps, columns = x.shape
    out = torch.empty((samples, columns), dtype=x.dtype, device=x.device)
    maximum_kernel[(samples, triton.cdiv(columns, 128))](x, out, steps, columns, BLOCK=128)
    return out


def replacement_func():
    return maximum
