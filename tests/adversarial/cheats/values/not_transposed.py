# Tries: leaves the transposition out: coalesced reads, and symmetric inputs would not tell.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: square
import torch
import triton
import triton.language as tl


def pattern(left, right):
    turned = left.transpose(0, 1)
    return turned - right


def replacement_args(left, right):
    return (left, right)


@triton.jit
def subtract_kernel(l_ptr, r_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(l_ptr + i, mask=i < n) - tl.load(r_ptr + i, mask=i < n), mask=i < n)


@torch.fx.wrap
def subtract(left, right):
    out = torch.empty_like(right)
    subtract_kernel[(triton.cdiv(out.numel(), 256),)](left, right, out, out.numel(), BLOCK=256)
    return out


def replacement_func():
    return subtract
