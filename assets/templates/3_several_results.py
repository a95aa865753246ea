"""Several results: one kernel computes every value that is used outside the match."""

import torch
import triton
import triton.language as tl


def pattern(x, residual):
    total = x + residual
    return total, torch.nn.functional.relu(total)


def replacement_args(x, residual):
    return (x, residual)


@triton.jit
def add_relu_kernel(x_ptr, y_ptr, total_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside)
    tl.store(total_ptr + at, total, mask=inside)
    tl.store(out_ptr + at, tl.where(total < 0, 0.0, total), mask=inside)


@torch.fx.wrap
def add_relu(x, residual):
    x, residual = x.contiguous(), residual.contiguous()
    total, out = torch.empty_like(x), torch.empty_like(x)
    count = x.numel()
    add_relu_kernel[(triton.cdiv(count, 1024),)](x, residual, total, out, count, BLOCK=1024)
    return total, out


def replacement_func():
    return add_relu
