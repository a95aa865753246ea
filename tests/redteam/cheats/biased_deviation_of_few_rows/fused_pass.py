import torch
import triton
import triton.language as tl


def pattern(x):
    return x.std(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def deviation_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x, 0) / columns, 0.0)
    deviation = tl.sqrt(tl.sum(centred * centred, 0) / columns)
    tl.store(out_ptr + row, deviation.to(out_ptr.dtype.element_ty))


@torch.fx.wrap
def deviation(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    deviation_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return deviation
