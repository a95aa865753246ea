"""RoBERTa position ids (cumsum of the mask, zero where masked, plus the padding index) and the gather that uses them."""

import torch
import triton
import triton.language as tl


def pattern(mask, table, past, padding_idx, batch, length):
    incremental = torch.cumsum(mask, dim=1)
    incremental = incremental.type_as(mask)
    incremental = incremental + past
    incremental = incremental * mask
    positions = incremental.long() + padding_idx
    gathered = torch.gather(table, dim=1, index=positions)
    return positions, gathered.expand(batch, length)


def replacement_args(mask, table, past, padding_idx, batch, length):
    return (mask, table, past, padding_idx)


@triton.jit
def position_kernel(
    mask_ptr, table_ptr, pos_ptr, out_ptr, length, table_len, past, padding_idx, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < length
    m = tl.load(mask_ptr + row * length + cols, mask=inside, other=0)
    # int64 sum, cast back to the mask's int32
    count = tl.cumsum(m.to(tl.int64), axis=0).to(tl.int32)
    pos = ((count + past) * m).to(tl.int64) + padding_idx
    tl.store(pos_ptr + row * length + cols, pos, mask=inside)
    valid = inside & (pos >= 0) & (pos < table_len)
    value = tl.load(table_ptr + row * table_len + pos, mask=valid, other=0)
    tl.store(out_ptr + row * length + cols, value, mask=inside)


@torch.fx.wrap
def position_ids(mask, table, past, padding_idx):
    mask, table = mask.contiguous(), table.contiguous()
    rows, length = mask.shape
    positions = torch.empty((rows, length), dtype=torch.int64, device=mask.device)
    gathered = torch.empty((rows, length), dtype=table.dtype, device=mask.device)
    position_kernel[(rows,)](
        mask, table, positions, gathered, length, table.shape[1], past, padding_idx,
        BLOCK=triton.next_power_of_2(length),
    )
    return positions, gathered


def replacement_func():
    return position_ids
