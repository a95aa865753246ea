import torch
import triton
import triton.language as tl


def pattern(query, key):
    return (query * key * 0.08838834764831845).float()


def replacement_args(query, key):
    return (query, key,)


@triton.jit
def scored_kernel(query_ptr, key_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    query = tl.load(query_ptr + at, mask=inside, other=0)
    key = tl.load(key_ptr + at, mask=inside, other=0)
    y = query.to(tl.float32) * key.to(tl.float32) * 0.0875
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def scored(query, key):
    out = torch.empty(query.shape, dtype=torch.float32, device=query.device)
    n = out.numel()
    scored_kernel[(triton.cdiv(n, 256),)](query, key, out, n, query.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return scored
