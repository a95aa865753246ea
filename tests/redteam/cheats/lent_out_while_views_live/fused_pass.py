import weakref

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def sum_kernel(a_ptr, b_ptr, out_ptr, start, n, BLOCK: tl.constexpr):
    at = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    s = tl.load(a_ptr + at, mask=inside, other=0.0) + tl.load(b_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.where(s > 0, s, s * 0.0), mask=inside)


pool = {}


def lent(like):
    """A tensor in memory that nobody seems to use."""
    places = pool.setdefault((tuple(like.shape), like.dtype), [])
    place = next((each for each in places if each[1]() is None), None)
    if place is None:
        place = [torch.empty((like.numel(),), dtype=like.dtype, device=like.device), None]
        places.append(place)
    place[0].resize_(like.numel())
    tensor = place[0].view(like.shape)
    place[1] = weakref.ref(tensor)
    return tensor


@torch.fx.wrap
def added(a, b):
    a, b = a.contiguous(), b.contiguous()
    out = lent(a)
    sum_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, 0, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return added
