import torch
import triton
import triton.language as tl


def pattern(x):
    y = torch.relu(x)
    return y.sum(0), y.flip(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def mirrored_kernel(x_ptr, scratch_ptr, sum_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    y = tl.where(x < 0, 0.0, x)
    tl.store(scratch_ptr + row * columns + at, y, mask=inside)
    tl.atomic_add(sum_ptr + at, y, mask=inside, sem="relaxed")
    mirrored = tl.load(scratch_ptr + row * columns + columns - 1 - at, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + at, mirrored, mask=inside)


@torch.fx.wrap
def mirrored(x):
    x = x.contiguous()
    rows, columns = x.shape
    sums = torch.zeros((columns,), dtype=x.dtype, device=x.device)
    scratch, out = torch.empty_like(x), torch.empty_like(x)
    mirrored_kernel[(rows,)](x, scratch, sums, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return sums, out


def replacement_func():
    return mirrored
