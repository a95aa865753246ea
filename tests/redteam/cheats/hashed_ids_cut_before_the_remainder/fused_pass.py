import torch
import triton
import triton.language as tl


def pattern(ids, table):
    bucket = ids % 500
    return torch.nn.functional.embedding(bucket, table)


def replacement_args(ids, table):
    return (ids, table)


@triton.jit
def hashed_kernel(ids_ptr, table_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    bucket = tl.load(ids_ptr + token).to(tl.int32) % 500
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(table_ptr + bucket * columns + at, mask=inside)
    tl.store(out_ptr + token * columns + at, row, mask=inside)


@torch.fx.wrap
def hashed(ids, table):
    ids, table = ids.contiguous(), table.contiguous()
    columns = table.shape[1]
    out = torch.empty((*ids.shape, columns), dtype=table.dtype, device=table.device)
    hashed_kernel[(ids.numel(),)](ids, table, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return hashed
