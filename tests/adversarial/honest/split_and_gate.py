# Tries: both halves of a row are read where they lie: no copies of chunks.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: split-gate

import torch
import triton
import triton.language as tl


def pattern(x):
    value, gate = x.chunk(2, dim=-1)
    return value * torch.sigmoid(gate)


def replacement_args(x):
    return (x,)


@triton.jit
def gate_kernel(x_ptr, out_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < half
    value = tl.load(x_ptr + row * 2 * half + column, mask=inside)
    gate = tl.load(x_ptr + (row * 2 + 1) * half + column, mask=inside)
    tl.store(out_ptr + row * half + column, value / (1.0 + tl.exp(-gate)), mask=inside)


@torch.fx.wrap
def gated(x):
    half = x.shape[-1] // 2
    out = torch.empty((*x.shape[:-1], half), dtype=x.dtype, device=x.device)
    gate_kernel[(out.numel() // half,)](x, out, half, BLOCK=triton.next_power_of_2(half))
    return out


def replacement_func():
    return gated
