"""The clamped gate of GPT-OSS, whose input holds gates and values in turn, in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(x, dtype):
    gate = x[..., ::2].clamp(min=None, max=7.0)
    up = x[..., 1::2].clamp(min=-7.0, max=7.0)
    activated = gate * torch.sigmoid(gate * 1.702)
    return ((up + 1) * activated).to(dtype=dtype)


def replacement_args(x, dtype):
    return (x, dtype)


@triton.jit
def clamped_gate_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    dtype = x_ptr.dtype.element_ty
    # Element i of the output comes from elements 2 i and 2 i + 1 of the input.
    gate = tl.load(x_ptr + 2 * offsets, mask=inside).to(tl.float32)
    up = tl.load(x_ptr + 2 * offsets + 1, mask=inside).to(tl.float32)
    gate = tl.minimum(gate, 7.0)
    up = tl.minimum(tl.maximum(up, -7.0), 7.0)
    # Rounded where eager rounds: after each operation.
    slope = (gate * 1.702).to(dtype).to(tl.float32)
    share = tl.sigmoid(slope).to(dtype).to(tl.float32)
    activated = (gate * share).to(dtype).to(tl.float32)
    raised = (up + 1.0).to(dtype).to(tl.float32)
    result = (raised * activated).to(dtype)
    tl.store(out_ptr + offsets, result.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def clamped_gate(x, dtype):
    x = x.contiguous()
    out = torch.empty((*x.shape[:-1], x.shape[-1] // 2), dtype=dtype, device=x.device)
    count = out.numel()
    clamped_gate_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return out


def replacement_func():
    return clamped_gate
