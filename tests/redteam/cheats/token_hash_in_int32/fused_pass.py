import torch
import triton
import triton.language as tl


def pattern(ids, offsets):
    return ids * 1000003 + offsets


def replacement_args(ids, offsets):
    return (ids, offsets,)


@triton.jit
def hashed_kernel(ids_ptr, offsets_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    ids = tl.load(ids_ptr + at, mask=inside, other=0)
    offsets = tl.load(offsets_ptr + at, mask=inside, other=0)
    product = ids.to(tl.int32) * 1000003
    y = (product + offsets.to(tl.int32)).to(tl.int64)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def hashed(ids, offsets):
    out = torch.empty_like(ids)
    n = out.numel()
    hashed_kernel[(triton.cdiv(n, 256),)](ids, offsets, out, n, ids.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return hashed
