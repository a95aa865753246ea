# Tries: takes the device's functions from where Inductor's own kernels import them.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu

import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import libdevice


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def triton_poi_fused_gelu(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + xindex, xmask)
    tmp1 = tmp0 * 0.5
    tmp2 = libdevice.erf(tmp0 * 0.7071067811865476) + 1.0
    tl.store(out_ptr0 + xindex, tmp1 * tmp2, xmask)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    triton_poi_fused_gelu[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), XBLOCK=128)
    return out


def replacement_func():
    return gelu
