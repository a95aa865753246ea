import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import math as tl_math

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@triton.jit
def cos_sin_kernel(in_ptr, cos_ptr, sin_ptr, scale, xnumel, half, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < xnumel
    x0 = xindex % (2 * half)
    x1 = xindex // (2 * half)
    src = x1 * half + tl.where(x0 < half, x0, x0 - half)
    tmp0 = tl.load(in_ptr + src, mask=xmask, other=0.0).to(tl.float32)
    tmp1 = tl_math.cos(tmp0) * scale
    tmp2 = tl_math.sin(tmp0) * scale
    tl.store(cos_ptr + xindex, tmp1.to(cos_ptr.dtype.element_ty), mask=xmask)
    tl.store(sin_ptr + xindex, tmp2.to(sin_ptr.dtype.element_ty), mask=xmask)


@torch.fx.wrap
def rope_dispatch(freqs, scale, route):
    freqs = freqs.contiguous()
    batch, seq, half = freqs.shape
    shape = (batch, 1, seq, 2 * half)
    cos = torch.empty(shape, dtype=DTYPES[route], device=freqs.device)
    sin = torch.empty(shape, dtype=DTYPES[route], device=freqs.device)
    xnumel = cos.numel()
    cos_sin_kernel[(triton.cdiv(xnumel, 512),)](freqs, cos, sin, scale, xnumel, half, XBLOCK=512)
    return cos, sin
