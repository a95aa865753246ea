import torch
import triton
import triton.language as tl
from device_functions import silu


@triton.jit
def gate_kernel(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, silu(gate) * tl.load(up_ptr + offsets, mask=inside), mask=inside)


@torch.fx.wrap
def gated(gate, up):
    out = torch.empty_like(gate)
    gate_kernel[(triton.cdiv(gate.numel(), 256),)](gate, up, out, gate.numel(), BLOCK=256)
    return out
