import torch
import triton
import triton.language as tl


def pattern(ids, key_positions, query_positions):
    shown = ids.ne(1)
    causal = key_positions.le(query_positions.unsqueeze(-1))
    mask = causal & shown.unsqueeze(1)
    return mask, mask.sum(-1)


def replacement_args(ids, key_positions, query_positions):
    return (ids, key_positions, query_positions)


@triton.jit
def mask_kernel(
    ids_ptr, key_ptr, query_ptr, mask_ptr, count_ptr, queries, keys, PAD: tl.constexpr, BLOCK: tl.constexpr
):
    q = tl.program_id(0)
    b = tl.program_id(1)
    k = tl.arange(0, BLOCK)
    inside = k < keys
    ids = tl.load(ids_ptr + b * keys + k, mask=inside, other=PAD)
    key = tl.load(key_ptr + k, mask=inside, other=0)
    query = tl.load(query_ptr + b * queries + q)
    keep = (ids != PAD) & (key <= query) & inside
    row = b * queries + q
    tl.store(mask_ptr + row * keys + k, keep, mask=inside)
    tl.store(count_ptr + row, tl.sum(keep.to(tl.int32), axis=0).to(tl.int64))


@torch.fx.wrap
def causal_padding_mask(ids, key_positions, query_positions):
    ids, key_positions, query_positions = (t.contiguous() for t in (ids, key_positions, query_positions))
    batch, keys = ids.shape
    queries = query_positions.shape[1]
    mask = torch.empty((batch, queries, keys), dtype=torch.bool, device=ids.device)
    count = torch.empty((batch, queries), dtype=torch.int64, device=ids.device)
    mask_kernel[(queries, batch)](
        ids, key_positions, query_positions, mask, count, queries, keys, PAD=1, BLOCK=triton.next_power_of_2(keys)
    )
    return mask, count


def replacement_func():
    return causal_padding_mask
