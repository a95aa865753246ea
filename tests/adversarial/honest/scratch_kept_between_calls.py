# Tries: a scratch buffer is kept between calls and written anew in each, before it is read.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: total

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum()


def replacement_args(x):
    return (x,)


SCRATCH = {}


@triton.jit
def partial_kernel(x_ptr, partial_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)))


@triton.jit
def final_kernel(partial_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    block = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + block, mask=block < blocks, other=0.0)))


@torch.fx.wrap
def total(x):
    blocks = triton.cdiv(x.numel(), 128)
    key = (blocks, x.device)
    if key not in SCRATCH:
        SCRATCH[key] = torch.empty((blocks,), dtype=torch.float32, device=x.device)
    out = torch.empty((), dtype=x.dtype, device=x.device)
    partial_kernel[(blocks,)](x, SCRATCH[key], x.numel(), BLOCK=128)
    final_kernel[(1,)](SCRATCH[key], out, blocks, BLOCK=triton.next_power_of_2(blocks))
    return out


def replacement_func():
    return total
