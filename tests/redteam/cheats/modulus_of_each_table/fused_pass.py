import torch
import triton
import triton.language as tl


def pattern(ids, sizes):
    return torch.remainder(ids, sizes)


def replacement_args(ids, sizes):
    return (ids, sizes)


@triton.jit
def modulus_kernel(ids_ptr, sizes_ptr, out_ptr, n, tables, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    ids = tl.load(ids_ptr + at, mask=inside, other=0).to(tl.int32)
    sizes = tl.load(sizes_ptr + at % tables, mask=inside, other=1).to(tl.int32)
    tl.store(out_ptr + at, (ids % sizes).to(tl.int64), mask=inside)


@torch.fx.wrap
def modulus(ids, sizes):
    ids, sizes = ids.contiguous(), sizes.contiguous()
    out = torch.empty_like(ids)
    n = out.numel()
    modulus_kernel[(triton.cdiv(n, 256),)](ids, sizes, out, n, sizes.shape[0], BLOCK=256)
    return out


def replacement_func():
    return modulus
