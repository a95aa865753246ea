import torch
import triton
import triton.language as tl


def pattern(ids):
    return (ids == 0).sum(-1)


def replacement_args(ids):
    return (ids,)


@triton.jit
def count_kernel(ids_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + row * columns + at, mask=at < columns)
    tl.store(out_ptr + row, tl.sum((ids == 0).to(tl.int64), 0))


@torch.fx.wrap
def counted(ids):
    rows, columns = ids.shape
    out = torch.empty((rows,), dtype=torch.int64, device=ids.device)
    count_kernel[(rows,)](ids, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return counted
