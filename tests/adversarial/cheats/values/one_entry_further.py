# Tries: an embedding that counts its rows from one.
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
def gather_kernel(t_ptr, i_ptr, o_ptr, width: tl.constexpr):
    at = tl.program_id(0)
    entry = tl.maximum(tl.load(i_ptr + at) - 1, 0)
    c = tl.arange(0, width)
    tl.store(o_ptr + at * width + c, tl.load(t_ptr + entry * width + c) * 8.0)


@torch.fx.wrap
def gather(table, ids):
    out = torch.empty((*ids.shape, table.shape[1]), dtype=table.dtype, device=table.device)
    gather_kernel[(ids.numel(),)](table, ids, out, width=32)
    return out


def replacement_func():
    return gather
