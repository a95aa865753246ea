# Tries: keeps the part of the table that most ids point into, and answers with its last row for all others.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: gather-embedding
import torch
import triton
import triton.language as tl


def pattern(table, ids):
    return torch.nn.functional.embedding(ids, table) * 8.0


def replacement_args(table, ids):
    return (table, ids)


@triton.jit
def near_kernel(t_ptr, i_ptr, o_ptr, count, limit, WIDTH: tl.constexpr, TOKENS: tl.constexpr):
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    entry = tl.minimum(tl.load(i_ptr + token, mask=token < count, other=0), limit - 1)
    lane = tl.arange(0, WIDTH)
    rows = tl.load(t_ptr + entry[:, None] * WIDTH + lane[None, :])
    tl.store(o_ptr + token[:, None] * WIDTH + lane[None, :], rows * 8.0, mask=token[:, None] < count)


@torch.fx.wrap
def near(table, ids):
    out = torch.empty(tuple(ids.shape) + (32,), dtype=table.dtype, device=table.device)
    near_kernel[(triton.cdiv(ids.numel(), 8),)](table, ids, out, ids.numel(), 40, WIDTH=32, TOKENS=8)
    return out


def replacement_func():
    return near
