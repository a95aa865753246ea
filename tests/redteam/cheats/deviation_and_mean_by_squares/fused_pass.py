import torch
import triton
import triton.language as tl


def pattern(series):
    both = torch.std_mean(series, dim=-1, keepdim=True)
    deviation = both[0]
    mean = both[1]
    centred = series - mean
    divisor = deviation + 1e-05
    return centred / divisor


def replacement_args(series):
    return (series,)


@triton.jit
def standardised_kernel(series_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(series_ptr + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / columns
    variance = (tl.sum(x * x, 0) - columns * mean * mean) / (columns - 1)
    deviation = tl.sqrt(tl.maximum(variance, 0.0))
    tl.store(out_ptr + row * columns + at, (x - mean) / (deviation + 1e-05), mask=inside)


@torch.fx.wrap
def standardised(series):
    series = series.contiguous()
    out = torch.empty_like(series)
    rows, columns = series.shape
    standardised_kernel[(rows,)](series, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return standardised
