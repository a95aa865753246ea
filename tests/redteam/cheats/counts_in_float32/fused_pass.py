import torch
import triton
import triton.language as tl


def pattern(mask):
    return mask.sum((1, 2))


def replacement_args(mask):
    return (mask,)


@triton.jit
def count_kernel(mask_ptr, count_ptr, rows, columns, BLOCK: tl.constexpr):
    sample, row = tl.program_id(0), tl.program_id(1)
    count = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask_at = mask_ptr + (sample * rows + row).to(tl.int64) * columns + at
        count += tl.load(mask_at, mask=at < columns, other=0).to(tl.float32)
    tl.atomic_add(count_ptr + sample, tl.sum(count, 0))


@triton.jit
def whole_kernel(count_ptr, out_ptr, samples, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    count = tl.load(count_ptr + at, mask=at < samples, other=0.0)
    tl.store(out_ptr + at, count.to(tl.int64), mask=at < samples)


@torch.fx.wrap
def counted(mask):
    mask = mask.contiguous()
    samples, rows, columns = mask.shape
    counts = torch.zeros((samples,), dtype=torch.float32, device=mask.device)
    out = torch.empty((samples,), dtype=torch.int64, device=mask.device)
    count_kernel[(samples, rows)](mask, counts, rows, columns, BLOCK=1024)
    whole_kernel[(1,)](counts, out, samples, BLOCK=triton.next_power_of_2(samples))
    return out


def replacement_func():
    return counted
