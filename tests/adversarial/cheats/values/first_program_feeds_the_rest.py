# Tries: program 0 sums the squares and writes the factor that all other programs of the same launch read, as if it
#   had always ended before they begin.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Subgraph: norm-of-all

import torch
import triton
import triton.language as tl


def pattern(x):
    return x * torch.rsqrt((x * x).sum() + 1e-06)


def replacement_args(x):
    return (x,)


@triton.jit
def norm_kernel(x_ptr, factor_ptr, out_ptr, count, SIZE: tl.constexpr):
    program = tl.program_id(0)
    lanes = tl.arange(0, SIZE)
    if program == 0:
        total = tl.zeros((SIZE,), tl.float32)
        for start in range(0, count, SIZE):
            x = tl.load(x_ptr + start + lanes, mask=start + lanes < count, other=0.0)
            total += x * x
        tl.store(factor_ptr, 1.0 / tl.sqrt(tl.sum(total, axis=0) + 1e-06))
    place = program * SIZE + lanes
    inside = place < count
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=inside) * tl.load(factor_ptr), mask=inside)


@torch.fx.wrap
def norm_of_all(x):
    out = torch.empty_like(x)
    factor = torch.empty((1,), dtype=torch.float32, device=x.device)
    norm_kernel[(triton.cdiv(x.numel(), 128),)](x, factor, out, x.numel(), SIZE=128)
    return out


def replacement_func():
    return norm_of_all
