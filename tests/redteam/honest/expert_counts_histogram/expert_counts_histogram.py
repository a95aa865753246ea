import torch
import triton
import triton.language as tl


def pattern(ids):
    return torch.nn.functional.one_hot(ids, num_classes=24).sum(dim=0)


def replacement_args(ids):
    return (ids,)


@triton.jit
def count_kernel(ids_ptr, counts_ptr, n, experts, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n
    expert = tl.load(ids_ptr + offs, mask=inside, other=0)
    one = tl.full((BLOCK,), 1, dtype=tl.int64)
    valid = inside & (expert >= 0) & (expert < experts)
    tl.atomic_add(counts_ptr + expert, one, mask=valid, sem="relaxed")


@torch.fx.wrap
def tokens_per_expert(ids):
    ids = ids.contiguous()
    counts = torch.zeros((24,), dtype=torch.int64, device=ids.device)
    count_kernel[(triton.cdiv(ids.numel(), 128),)](ids, counts, ids.numel(), 24, BLOCK=128)
    return counts


def replacement_func():
    return tokens_per_expert
