"""Row-wise prefix sum for rows of any length: scan chunk by chunk and carry the running total."""

import torch
import triton
import triton.language as tl


def pattern(inp):
    return torch.cumsum(inp, dim=-1)


def replacement_args(inp):
    return (inp,)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def scan_kernel(in_ptr, out_ptr, row_stride, n, CHUNK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    for start in range(0, n, CHUNK):
        cols = start + tl.arange(0, CHUNK)
        mask = cols < n
        vals = tl.load(in_ptr + row * row_stride + cols, mask=mask, other=0.0).to(tl.float32)
        scanned = tl.associative_scan(vals, 0, _add) + carry
        tl.store(out_ptr + row * row_stride + cols, scanned.to(out_ptr.dtype.element_ty), mask=mask)
        carry += tl.sum(vals, axis=0)


@torch.fx.wrap
def prefix_sum(inp):
    if not inp.dtype.is_floating_point:
        raise NotImplementedError("prefix_sum handles floating point rows only")
    inp = inp.contiguous()
    out = torch.empty_like(inp)
    n = inp.shape[-1]
    scan_kernel[(inp.numel() // n,)](inp, out, n, n, CHUNK=64, num_warps=2)
    return out


def replacement_func():
    return prefix_sum
