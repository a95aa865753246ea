# Tries: arithmetic on int64 tensors, exact to the last bit.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: buckets

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return (a * 3 + b) % 7


def replacement_args(a, b):
    return (a, b)


@triton.jit
def bucket_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    a = tl.load(a_ptr + offsets, mask=inside, other=0)
    b = tl.load(b_ptr + offsets, mask=inside, other=0)
    rest = (a * 3 + b) % 7
    # the sign follows the divisor in Python and torch, the dividend in C
    tl.store(out_ptr + offsets, tl.where(rest < 0, rest + 7, rest), mask=inside)


@torch.fx.wrap
def buckets(a, b):
    out = torch.empty_like(a)
    bucket_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return buckets
