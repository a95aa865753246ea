import torch
import triton
import triton.language as tl


CONFIGURATIONS = [
    triton.Config({"SPLIT": split}, num_warps=warps, num_stages=stages)
    for split in (1, 2, 4, 8, 16, 32)
    for warps in (1, 2, 4, 8)
    for stages in (1, 2, 3, 4, 5)
] + [triton.Config({"SPLIT": 64}, num_warps=1, num_stages=1)]


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.autotune(configs=CONFIGURATIONS, key=["columns"])
@triton.jit
def sum_kernel(x_ptr, out_ptr, columns, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    length = columns // SPLIT
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(SPLIT):
        total += tl.load(x_ptr + row * columns + part * length + at, mask=at < length, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, 0))


@torch.fx.wrap
def row_sums(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    sum_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return row_sums
