# Tries: rows of a table by index, scaled on the way.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gather-embedding

import torch
import triton
import triton.language as tl


def pattern(indices, table):
    return torch.nn.functional.embedding(indices, table) * 8.0


def replacement_args(indices, table):
    return (indices, table)


@triton.jit
def gather_kernel(index_ptr, table_ptr, out_ptr, width, BLOCK: tl.constexpr):
    place = tl.program_id(0)
    row = tl.load(index_ptr + place)
    column = tl.arange(0, BLOCK)
    inside = column < width
    tl.store(
        out_ptr + place * width + column, tl.load(table_ptr + row * width + column, mask=inside) * 8.0, mask=inside
    )


@torch.fx.wrap
def gathered(indices, table):
    width = table.shape[1]
    out = torch.empty((*indices.shape, width), dtype=table.dtype, device=table.device)
    gather_kernel[(indices.numel(),)](indices, table, out, width, BLOCK=triton.next_power_of_2(width))
    return out


def replacement_func():
    return gathered
