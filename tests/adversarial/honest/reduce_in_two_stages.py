# Tries: partial sums of blocks first, then one program that adds them: deterministic without atomics.
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


@triton.jit
def partial_kernel(x_ptr, partial_ptr, count, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial_ptr + block, tl.sum(tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)))


@triton.jit
def final_kernel(partial_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    block = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + block, mask=block < blocks, other=0.0)))


@torch.fx.wrap
def total(x):
    blocks = triton.cdiv(x.numel(), 256)
    partial = torch.empty((blocks,), dtype=torch.float32, device=x.device)
    out = torch.empty((), dtype=x.dtype, device=x.device)
    partial_kernel[(blocks,)](x, partial, x.numel(), BLOCK=256)
    final_kernel[(1,)](partial, out, blocks, BLOCK=triton.next_power_of_2(blocks))
    return out


def replacement_func():
    return total
