import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(angle, query):
    return torch.sin(angle) * query


def replacement_args(angle, query):
    return (angle, query,)


@triton.jit
def turned_kernel(angle_ptr, query_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    angle = tl.load(angle_ptr + at, mask=inside, other=0)
    query = tl.load(query_ptr + at, mask=inside, other=0)
    y = libdevice.fast_sinf(angle) * query
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def turned(angle, query):
    out = torch.empty_like(angle)
    n = out.numel()
    turned_kernel[(triton.cdiv(n, 256),)](angle, query, out, n, BLOCK=256)
    return out


def replacement_func():
    return turned
