"""Row by row: each row is read once, reduced, and written once."""

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row + at, mask=inside, other=float("-inf")).to(tl.float32)
    exps = tl.exp(x - tl.max(x))
    tl.store(out_ptr + row + at, exps / tl.sum(exps), mask=inside)


@torch.fx.wrap
def softmax(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
