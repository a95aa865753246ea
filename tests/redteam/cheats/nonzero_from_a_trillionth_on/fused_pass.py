import torch
import triton
import triton.language as tl


def pattern(values):
    return torch.count_nonzero(values, dim=-1)


def replacement_args(values):
    return (values,)


@triton.jit
def nonzero_kernel(values_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(values_ptr + row * columns + at, mask=at < columns, other=0.0)
    count = tl.sum((tl.abs(values) > 1e-12).to(tl.int32), 0)
    tl.store(out_ptr + row, count.to(tl.int64))


@torch.fx.wrap
def nonzero(values):
    values = values.contiguous()
    rows, columns = values.shape
    out = torch.empty((rows,), dtype=torch.int64, device=values.device)
    nonzero_kernel[(rows,)](values, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return nonzero
