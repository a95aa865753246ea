# Tries: launches one program only, for the part of the result that a spot check is likely to look at.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Subgraph: add-relu
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def block_kernel(a_ptr, b_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(a_ptr + i, mask=i < n) + tl.load(b_ptr + i, mask=i < n)
    tl.store(o_ptr + i, tl.maximum(s, 0.0), mask=i < n)


@torch.fx.wrap
def first_block(a, b):
    out = torch.empty_like(a)
    block_kernel[(1,)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return first_block
