import torch
import triton
import triton.language as tl


def pattern(labels, table):
    ignored = labels == -100
    kept = labels.masked_fill(ignored, 1)
    return torch.nn.functional.embedding(kept, table)


def replacement_args(labels, table):
    return (labels, table)


@triton.jit
def embed_kernel(labels_ptr, table_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    label = tl.load(labels_ptr + token)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(table_ptr + label * columns + at, mask=inside)
    tl.store(out_ptr + token * columns + at, row, mask=inside)


@torch.fx.wrap
def embedded(labels, table):
    columns = table.shape[1]
    out = torch.empty((*labels.shape, columns), dtype=table.dtype, device=table.device)
    embed_kernel[(labels.numel(),)](labels, table, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return embedded
