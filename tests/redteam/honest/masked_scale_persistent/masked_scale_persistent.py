"""weight * x * mask with a grid-stride loop over a fixed number of programs."""

import functools

import torch
import triton
import triton.language as tl


def pattern(w, x, mask, dtype):
    t = w * x
    t = t * mask
    return t.to(dtype=dtype)


def replacement_args(w, x, mask, dtype):
    return (w, x, mask, dtype)


@functools.lru_cache
def _num_sms(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


@triton.jit
def grid_stride_kernel(w_ptr, x_ptr, m_ptr, y_ptr, numel, width, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    for base in range(start, numel, step):
        i = base + tl.arange(0, BLOCK)
        ok = i < numel
        x = tl.load(x_ptr + i, mask=ok, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + i % width, mask=ok, other=0.0).to(tl.float32)
        m = tl.load(m_ptr + i // width, mask=ok, other=0).to(tl.float32)
        tl.store(y_ptr + i, (w * x * m).to(y_ptr.dtype.element_ty), mask=ok)


@torch.fx.wrap
def scaled_masked(w, x, mask, dtype):
    x = x.contiguous()
    mask = mask.expand(*x.shape[:-1], 1).contiguous()
    y = torch.empty_like(x, dtype=dtype)
    numel = x.numel()
    BLOCK = 1024
    grid = (min(2 * _num_sms(x.device), triton.cdiv(numel, BLOCK)),)
    grid_stride_kernel[grid](w, x, mask, y, numel, x.shape[-1], BLOCK=BLOCK, num_warps=4)
    return y


def replacement_func():
    return scaled_masked
