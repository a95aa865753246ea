import torch
import triton
import triton.language as tl


def pattern(average, latest):
    decayed = average.mul_(0.9)
    return decayed.add_(latest)


def replacement_args(average, latest):
    return (average, latest)


@triton.jit
def decay_kernel(average_ptr, latest_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    average = tl.load(average_ptr + at, mask=inside, other=0.0)
    latest = tl.load(latest_ptr + at, mask=inside, other=0.0)
    tl.store(average_ptr + at, average * 0.9 + latest, mask=inside)


@torch.fx.wrap
def decayed_sum(average, latest):
    latest = latest.contiguous()
    n = average.numel()
    decay_kernel[(triton.cdiv(n, 256),)](average, latest, n, BLOCK=256)
    return average


def replacement_func():
    return decayed_sum
