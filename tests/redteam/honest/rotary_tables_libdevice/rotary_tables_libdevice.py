"""Rotary embedding tables: cos and sin of the angles, repeated twice along the last axis.

The angles are not concatenated: each program evaluates sincos once and stores it to both halves.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice


def pattern(freqs, scaling):
    emb = torch.cat((freqs, freqs), dim=-1)
    cos = emb.cos() * scaling
    sin = emb.sin() * scaling
    cos = cos.to(dtype=torch.float32)
    sin = sin.to(dtype=torch.float32)
    return cos.unsqueeze(1), sin.unsqueeze(1)


def replacement_args(freqs, scaling):
    return (freqs, scaling)


@triton.jit
def rope_tables_kernel(freqs_ptr, cos_ptr, sin_ptr, n, half, scaling, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    angle = tl.load(freqs_ptr + idx, mask=mask, other=0.0)
    c = libdevice.cos(angle) * scaling
    s = libdevice.sin(angle) * scaling
    row = idx // half
    col = idx % half
    dst = row * (2 * half) + col
    tl.store(cos_ptr + dst, c, mask=mask)
    tl.store(cos_ptr + dst + half, c, mask=mask)
    tl.store(sin_ptr + dst, s, mask=mask)
    tl.store(sin_ptr + dst + half, s, mask=mask)


@torch.fx.wrap
def rope_tables(freqs, scaling):
    freqs = freqs.contiguous()
    b, s, half = freqs.shape
    cos = torch.empty((b, 1, s, 2 * half), dtype=torch.float32, device=freqs.device)
    sin = torch.empty_like(cos)
    n = freqs.numel()
    rope_tables_kernel[(triton.cdiv(n, 256),)](freqs, cos, sin, n, half, scaling, BLOCK=256)
    return cos, sin


def replacement_func():
    return rope_tables
