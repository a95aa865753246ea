import torch
import triton
import triton.language as tl


def pattern(large, cap, is_small, exact, buckets):
    capped = torch.min(large, cap)
    chosen = torch.where(is_small, exact, capped)
    buckets += chosen
    return buckets


def replacement_args(large, cap, is_small, exact, buckets):
    return (large, cap, is_small, exact, buckets)


@triton.jit
def min_where_add_kernel(
    large_ptr, cap_ptr, small_ptr, exact_ptr, buckets_ptr, n_elements, BLOCK_SIZE: tl.constexpr
):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    large = tl.load(large_ptr + offsets, mask=mask, other=0)
    cap = tl.load(cap_ptr + offsets, mask=mask, other=0)
    small = tl.load(small_ptr + offsets, mask=mask, other=0).to(tl.int1)
    exact = tl.load(exact_ptr + offsets, mask=mask, other=0)
    buckets = tl.load(buckets_ptr + offsets, mask=mask, other=0)
    result = buckets + tl.where(small, exact, tl.minimum(large, cap))
    tl.store(buckets_ptr + offsets, result, mask=mask)


@torch.fx.wrap
def min_where_add(large, cap, is_small, exact, buckets):
    for t in (large, cap, is_small, exact):
        if t.shape != buckets.shape:
            raise ValueError("min_where_add does not broadcast")
    if not buckets.is_contiguous():
        raise ValueError("buckets must be contiguous: it is updated in place")
    n_elements = buckets.numel()
    BLOCK_SIZE = 1024
    min_where_add_kernel[(triton.cdiv(n_elements, BLOCK_SIZE),)](
        large.contiguous(), cap.contiguous(), is_small.contiguous(), exact.contiguous(), buckets, n_elements,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return buckets


def replacement_func():
    return min_where_add
