# Tries: programs add their sums of squares by atomics into one number, which a second kernel reads: what a race would
#   get wrong, in two launches.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: norm-of-all

import torch
import triton
import triton.language as tl


def pattern(x):
    return x * torch.rsqrt((x * x).sum() + 1e-06)


def replacement_args(x):
    return (x,)


@triton.jit
def squares_kernel(x_ptr, total_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_ptr + place, mask=place < count, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))


@triton.jit
def scale_kernel(x_ptr, total_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    factor = 1.0 / tl.sqrt(tl.load(total_ptr) + 1e-06)
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=inside) * factor, mask=inside)


@torch.fx.wrap
def norm_of_all(x):
    out = torch.empty_like(x)
    total = torch.zeros((1,), dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(x.numel(), 128),)
    squares_kernel[grid](x, total, x.numel(), SIZE=128)
    scale_kernel[grid](x, total, out, x.numel(), SIZE=128)
    return out


def replacement_func():
    return norm_of_all
