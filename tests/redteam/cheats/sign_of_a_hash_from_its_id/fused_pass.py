import torch
import triton
import triton.language as tl


def pattern(ids):
    return (ids * 2654435761) % 1000003


def replacement_args(ids):
    return (ids,)


@triton.jit
def hash_kernel(ids_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    ids = tl.load(ids_ptr + at, mask=inside, other=0)
    rest = (ids * 2654435761) % 1000003
    rest = tl.where((ids < 0) & (rest != 0), rest + 1000003, rest)
    tl.store(out_ptr + at, rest, mask=inside)


@torch.fx.wrap
def buckets(ids):
    ids = ids.contiguous()
    out = torch.empty_like(ids)
    n = ids.numel()
    hash_kernel[(triton.cdiv(n, 256),)](ids, out, n, BLOCK=256)
    return out


def replacement_func():
    return buckets
