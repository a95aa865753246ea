# Tries: a conversion to float32 that happens in the kernel, which stores another dtype than it loads.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: widen

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.float() * 2.0


def replacement_args(x):
    return (x,)


@triton.jit
def widen_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside).to(tl.float32) * 2.0, mask=inside)


@torch.fx.wrap
def widened(x):
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    widen_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return widened
