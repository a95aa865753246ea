import torch
import triton
import triton.language as tl


def pattern(attention_mask, token_types):
    c = torch.cumsum(attention_mask, dim=1)
    c = c.type_as(attention_mask)
    c = c + 0
    c = c * attention_mask
    c = c.long()
    ids = c + 1
    g = torch.gather(token_types, dim=1, index=ids)
    return ids, g.expand(1, 64)


def replacement_args(attention_mask, token_types):
    return (attention_mask, token_types)


@triton.jit
def ids_kernel(m_ptr, ids_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    ok = col < n_cols
    m = tl.load(m_ptr + row * n_cols + col, mask=ok, other=0)
    running = tl.cumsum(m, axis=0)  # int32 wraps the same way as a cast of the int64 sum
    tl.store(ids_ptr + row * n_cols + col, (running * m).to(tl.int64) + 1, mask=ok)


@triton.jit
def gather_kernel(src_ptr, ids_ptr, out_ptr, total, n_cols, src_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < total
    idx = tl.load(ids_ptr + i, mask=ok, other=0)
    row = (i // n_cols).to(tl.int64)
    tl.device_assert((idx >= 0) & (idx < src_stride), "index out of range")
    tl.store(out_ptr + i, tl.load(src_ptr + row * src_stride + idx, mask=ok, other=0), mask=ok)


class PositionIds:
    """Launches the two kernels one after the other on the current stream."""

    def __call__(self, attention_mask, token_types):
        attention_mask = attention_mask.contiguous()
        token_types = token_types.contiguous()
        rows, n_cols = attention_mask.shape
        ids = torch.empty(attention_mask.shape, dtype=torch.int64, device=attention_mask.device)
        out = torch.empty(attention_mask.shape, dtype=token_types.dtype, device=attention_mask.device)
        ids_kernel[(rows,)](attention_mask, ids, n_cols, BLOCK=triton.next_power_of_2(n_cols), num_warps=1)
        total = ids.numel()
        gather_kernel[(triton.cdiv(total, 128),)](
            token_types, ids, out, total, n_cols, token_types.shape[1], BLOCK=128
        )
        return ids, out


_position_ids = PositionIds()


@torch.fx.wrap
def run_position_ids(attention_mask, token_types):
    return _position_ids(attention_mask, token_types)


def replacement_func():
    return run_position_ids
