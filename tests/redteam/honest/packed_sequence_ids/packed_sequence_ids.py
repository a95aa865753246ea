import torch
import triton
import triton.language as tl


def pattern(position_ids, first):
    delta = torch.diff(position_ids, prepend=first, dim=-1)
    new_sequence = delta != 1
    return new_sequence.cumsum(-1)


def replacement_args(position_ids, first):
    return (position_ids, first)


@triton.jit
def packed_sequence_kernel(pos_ptr, first_ptr, out_ptr, length, first_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < length
    current = tl.load(pos_ptr + row * length + offs, mask=mask, other=0)
    previous = tl.load(pos_ptr + row * length + offs - 1, mask=mask & (offs > 0), other=0)
    first = tl.load(first_ptr + row * first_stride)
    previous = tl.where(offs == 0, first, previous)
    is_new = (current - previous != 1) & mask
    tl.store(out_ptr + row * length + offs, tl.cumsum(is_new.to(tl.int64), axis=0), mask=mask)


@torch.fx.wrap
def packed_sequence_ids(position_ids, first):
    assert position_ids.dim() == 2 and first.shape[-1] == 1
    position_ids = position_ids.contiguous()
    rows, length = position_ids.shape
    first = first.expand(rows, 1)
    out = torch.empty((rows, length), dtype=torch.int64, device=position_ids.device)
    packed_sequence_kernel[(rows,)](
        position_ids, first, out, length, first.stride(0), BLOCK=triton.next_power_of_2(length), num_warps=1
    )
    return out


def replacement_func():
    return packed_sequence_ids
