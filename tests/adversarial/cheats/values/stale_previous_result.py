# Tries: two buffers in turn: returns what the call before has computed, while it computes its own for the next.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity | cheat
# Subgraph: split-gate
import itertools

import torch
import triton
import triton.language as tl

turn = itertools.count()
buffers = []


def pattern(x):
    halves = x.chunk(2, dim=-1)
    return halves[0] * torch.sigmoid(halves[1])


def replacement_args(x):
    return (x,)


@triton.jit
def gate_kernel(x_ptr, o_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * 2 * half + c, mask=c < half)
    gate = tl.load(x_ptr + row * 2 * half + half + c, mask=c < half)
    tl.store(o_ptr + row * half + c, value / (1.0 + tl.exp(-gate)), mask=c < half)


@torch.fx.wrap
def gated(x):
    half = x.shape[-1] // 2
    if not buffers:
        buffers.extend(torch.zeros((x.shape[0], half), dtype=x.dtype, device=x.device) for _ in range(2))
        gate_kernel[(x.shape[0],)](x, buffers[1], half, BLOCK=64)
    number = next(turn)
    gate_kernel[(x.shape[0],)](x, buffers[number % 2], half, BLOCK=64)
    return buffers[(number + 1) % 2]


def replacement_func():
    return gated
