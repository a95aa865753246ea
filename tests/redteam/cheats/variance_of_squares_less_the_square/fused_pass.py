import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.layer_norm(x, (128,), None, None, 1e-05)


def replacement_args(x):
    return (x,)


@triton.jit
def norm_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / columns
    variance = tl.sum(x * x, 0) / columns - mean * mean
    tl.store(out_ptr + row * columns + at, (x - mean) / tl.sqrt(variance + 1e-05), mask=inside)


@torch.fx.wrap
def normalised(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    norm_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return normalised
