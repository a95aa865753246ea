"""The SwiGLU gate, silu(gate) * up, in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(gate, up):
    """What to look for: the same two operations as in the graph, with the inputs as parameters."""
    activated = torch.nn.functional.silu(gate)
    return activated * up


def replacement_args(gate, up):
    """What the replacement is called with."""
    return (gate, up)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Each program computes one block of BLOCK elements."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=inside)
    up = tl.load(up_ptr + offsets, mask=inside)
    activated = gate * tl.exp(gate) / (1 + tl.exp(gate))
    tl.store(out_ptr + offsets, activated * up, mask=inside)


@torch.fx.wrap
def swiglu(gate, up):
    """The replacement: launches the kernel once and returns the product."""
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    count = out.numel()
    swiglu_kernel[(triton.cdiv(count, 1024),)](gate, up, out, count, BLOCK=1024)
    return out


def replacement_func():
    """Names the replacement."""
    return swiglu
