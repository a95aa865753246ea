import torch
import triton
import triton.language as tl


def pattern(profiles):
    mean = profiles.mean(dim=-1, keepdim=True)
    centred = profiles - mean
    return torch.nn.functional.normalize(centred, dim=-1)


def replacement_args(profiles):
    return (profiles,)


@triton.jit
def correlation_kernel(profiles_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(profiles_ptr + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / columns
    squares = tl.maximum(tl.sum(x * x, 0) - columns * mean * mean, 0.0)
    length = tl.maximum(tl.sqrt(squares), 1e-12)
    tl.store(out_ptr + row * columns + at, (x - mean) / length, mask=inside)


@torch.fx.wrap
def correlation(profiles):
    profiles = profiles.contiguous()
    out = torch.empty_like(profiles)
    rows, columns = profiles.shape
    correlation_kernel[(rows,)](profiles, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return correlation
