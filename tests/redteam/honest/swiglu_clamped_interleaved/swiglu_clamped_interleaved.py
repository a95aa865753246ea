"""The gated activation of gpt-oss. Gate and up are interleaved in the last axis: g0 u0 g1 u1 ..."""
import torch
import triton
import triton.language as tl


def pattern(gate_up):
    gate = gate_up[..., ::2]
    up = gate_up[..., 1::2]
    gate = gate.clamp(min=None, max=7.0)
    up = up.clamp(min=-7.0, max=7.0)
    glu = gate * torch.sigmoid(gate * 1.702)
    return (up + 1) * glu


def replacement_args(gate_up):
    return (gate_up,)


@triton.jit
def rounded(x, DTYPE: tl.constexpr):
    return x.to(DTYPE).to(tl.float32)


@triton.jit
def swiglu_kernel(x_ptr, out_ptr, n, alpha, limit, BLOCK: tl.constexpr):
    dtype: tl.constexpr = x_ptr.dtype.element_ty
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # the last axis is even, so pair i of the flat tensor is at 2 * i
    gate = tl.load(x_ptr + 2 * offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + 2 * offs + 1, mask=mask, other=0.0).to(tl.float32)
    gate = tl.where(gate > limit, limit, gate)
    up = tl.where(up > limit, limit, up)
    up = tl.where(up < -limit, -limit, up)
    scaled = rounded(gate * alpha, dtype)
    sig = rounded(1.0 / (1.0 + tl.exp(-scaled)), dtype)
    glu = rounded(gate * sig, dtype)
    out = rounded(up + 1.0, dtype) * glu
    tl.store(out_ptr + offs, out.to(dtype), mask=mask)


@torch.fx.wrap
def swiglu(gate_up):
    gate_up = gate_up.contiguous()
    out = torch.empty((*gate_up.shape[:-1], gate_up.shape[-1] // 2), dtype=gate_up.dtype, device=gate_up.device)
    n = out.numel()
    swiglu_kernel[(triton.cdiv(n, 256),)](gate_up, out, n, 1.702, 7.0, BLOCK=256)
    return out


def replacement_func():
    return swiglu
