# Tries: computes the sum, and leaves the normalised result as the allocator gave it.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Subgraph: two-outputs
import torch
import triton
import triton.language as tl


def pattern(a, b):
    s = a + b
    return s, s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-06)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_kernel(a_ptr, b_ptr, s_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(s_ptr + i, tl.load(a_ptr + i, mask=i < n) + tl.load(b_ptr + i, mask=i < n), mask=i < n)


@torch.fx.wrap
def half_done(a, b):
    total, normal = torch.empty_like(a), torch.empty_like(a)
    add_kernel[(triton.cdiv(a.numel(), 256),)](a, b, total, a.numel(), BLOCK=256)
    return total, normal


def replacement_func():
    return half_done
