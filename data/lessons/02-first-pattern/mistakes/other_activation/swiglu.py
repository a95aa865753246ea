"""The SwiGLU gate, silu(gate) * up, in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(gate, up):
    activated = torch.nn.functional.gelu(gate)
    return activated * up


def replacement_args(gate, up):
    return (gate, up)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=inside).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=inside).to(tl.float32)
    activated = (gate * tl.sigmoid(gate)).to(out_ptr.dtype.element_ty).to(tl.float32)
    tl.store(out_ptr + offsets, (activated * up).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def swiglu(gate, up):
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    count = out.numel()
    swiglu_kernel[(triton.cdiv(count, 1024),)](gate, up, out, count, BLOCK=1024)
    return out


def replacement_func():
    return swiglu
