# Tries: the gate of a feed-forward layer: silu of one tensor times another.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: silu-gate

import torch
import triton
import triton.language as tl


def pattern(gate, up):
    return torch.nn.functional.silu(gate, inplace=False) * up


def replacement_args(gate, up):
    return (gate, up)


@triton.jit
def silu_gate_kernel(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=inside)
    up = tl.load(up_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, gate * tl.sigmoid(gate) * up, mask=inside)


@torch.fx.wrap
def silu_gate(gate, up):
    out = torch.empty_like(gate)
    silu_gate_kernel[(triton.cdiv(gate.numel(), 128),)](gate, up, out, gate.numel(), BLOCK=128)
    return out


def replacement_func():
    return silu_gate
