import torch
import triton
import triton.language as tl


def pattern(weight):
    scale = weight.abs().mean().clamp(min=1e-05)
    return (weight / scale).round().clamp(-1, 1) * scale


def replacement_args(weight):
    return (weight,)


@triton.jit
def magnitude_kernel(weight_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    weight = tl.load(weight_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(sum_ptr + tl.program_id(0), tl.sum(tl.abs(weight), 0))


@triton.jit
def levels_kernel(weight_ptr, sum_ptr, out_ptr, n, blocks, BLOCKS: tl.constexpr, BLOCK: tl.constexpr):
    number = tl.arange(0, BLOCKS)
    total = tl.sum(tl.load(sum_ptr + number, mask=number < blocks, other=0.0), 0)
    scale = tl.maximum(total / (blocks * BLOCK), 1e-05)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    weight = tl.load(weight_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    level = tl.where(weight / scale > 0.5, 1.0, 0.0) - tl.where(weight / scale < -0.5, 1.0, 0.0)
    tl.store(out_ptr + at, (level * scale).to(out_ptr.dtype.element_ty), mask=at < n)


@torch.fx.wrap
def levels(weight):
    weight = weight.contiguous()
    out = torch.empty_like(weight)
    n = weight.numel()
    blocks = triton.cdiv(n, 1024)
    sums = torch.empty((blocks,), dtype=torch.float32, device=weight.device)
    magnitude_kernel[(blocks,)](weight, sums, n, BLOCK=1024)
    levels_kernel[(blocks,)](weight, sums, out, n, blocks, BLOCKS=triton.next_power_of_2(blocks), BLOCK=1024)
    return out


def replacement_func():
    return levels
