# Tries: hands the tensors to numpy by their array protocol; a decoy kernel copies the result once more.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Subgraph: row-sum
import numpy
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def copy_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@torch.fx.wrap
def summed(x):
    sums = torch.as_tensor(numpy.asarray(x.to("cpu")).sum(-1), dtype=x.dtype, device=x.device)
    out = torch.empty_like(sums)
    copy_kernel[(1,)](sums, out, sums.numel(), BLOCK=128)
    return out


def replacement_func():
    return summed
