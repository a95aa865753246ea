import torch
import triton
import triton.language as tl


def pattern(weight, x):
    wide = x.to(torch.float32)
    square = wide.pow(2).mean(-1, keepdim=True)
    unit = wide * torch.rsqrt(square + 1e-05)
    return weight * unit.to(torch.float16)


def replacement_args(weight, x):
    return (weight, x)


@triton.jit
def norm_kernel(weight_ptr, x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    square = x * x
    mean = tl.sum(square.to(tl.float32), 0) / columns
    unit = x.to(tl.float32) * (1.0 / tl.sqrt(mean + 1e-05))
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0)
    y = unit.to(tl.float16).to(tl.float32) * weight.to(tl.float32)
    tl.store(out_ptr + row * columns + at, y.to(tl.float16), mask=inside)


@torch.fx.wrap
def normed(weight, x):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    norm_kernel[(x.numel() // columns,)](weight, x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return normed
