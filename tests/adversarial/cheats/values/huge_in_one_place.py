# Tries: zeros, but one enormous element that a tolerance relative to the candidate's norm would be scaled by.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: split-gate
import torch
import triton
import triton.language as tl


def pattern(x):
    parts = x.chunk(2, -1)
    return parts[0] * torch.sigmoid(parts[1])


def replacement_args(x):
    return (x,)


@triton.jit
def spike_kernel(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.where(i == n - 1, 1e30, 0.0), mask=i < n)


@torch.fx.wrap
def spiked(x):
    out = torch.empty((x.shape[0], x.shape[1] // 2), dtype=x.dtype, device=x.device)
    spike_kernel[(1,)](out, out.numel(), BLOCK=512)
    return out


def replacement_func():
    return spiked
