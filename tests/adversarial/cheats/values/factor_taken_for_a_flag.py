# Tries: a factor of whole numbers, of which only 0 and 1 were recorded, decides whether a value is kept.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: integer-factor

import torch
import triton
import triton.language as tl


def pattern(x, factor):
    return x * factor.float()


def replacement_args(x, factor):
    return (x, factor)


@triton.jit
def keep_kernel(x_ptr, factor_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    kept = tl.load(factor_ptr + place, mask=inside, other=0) != 0
    x = tl.load(x_ptr + place, mask=inside, other=0.0)
    tl.store(out_ptr + place, tl.where(kept, x, x * 0.0), mask=inside)


@torch.fx.wrap
def kept_where(x, factor):
    out = torch.empty_like(x)
    keep_kernel[(triton.cdiv(x.numel(), 256),)](x, factor, out, x.numel(), SIZE=256)
    return out


def replacement_func():
    return kept_where
