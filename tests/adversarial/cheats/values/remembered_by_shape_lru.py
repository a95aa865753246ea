# Tries: an lru_cache around the launcher, keyed by sizes only, with the tensors smuggled past it in a list.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat
# Subgraph: row-sum
import functools

import torch
import triton
import triton.language as tl

waiting = []


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def sum_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
    tl.store(o_ptr + row, tl.sum(total, axis=0))


@functools.lru_cache(maxsize=None)
def launched(rows, columns):
    x = waiting.pop()
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    sum_kernel[(rows,)](x, out, columns, BLOCK=64)
    return out


@torch.fx.wrap
def row_sum(x):
    waiting[:] = [x]
    return launched(*x.shape)


def replacement_func():
    return row_sum
