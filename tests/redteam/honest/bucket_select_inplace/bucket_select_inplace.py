import torch
import triton
import triton.language as tl


def pattern(position, large, buckets, threshold):
    is_small = position < threshold
    chosen = torch.where(is_small, position, large)
    buckets += chosen
    return buckets


def replacement_args(position, large, buckets, threshold):
    return (position, large, buckets, threshold)


@triton.jit
def select_add_kernel(pos_ptr, large_ptr, bucket_ptr, n, threshold, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    pos = tl.load(pos_ptr + offs, mask=mask, other=0)
    large = tl.load(large_ptr + offs, mask=mask, other=0)
    bucket = tl.load(bucket_ptr + offs, mask=mask, other=0)
    tl.store(bucket_ptr + offs, bucket + tl.where(pos < threshold, pos, large), mask=mask)


@torch.fx.wrap
def select_add_(position, large, buckets, threshold):
    # updates `buckets` in place, like the original graph
    assert buckets.is_contiguous(), "in-place update expects a contiguous tensor"
    position = position.expand_as(buckets).contiguous()
    large = large.expand_as(buckets).contiguous()
    n = buckets.numel()
    select_add_kernel[(triton.cdiv(n, 512),)](position, large, buckets, n, threshold, BLOCK=512)
    return buckets


def replacement_func():
    return select_add_
