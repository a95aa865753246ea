# Tries: infinity where the sum is positive, whose distance from everything is the same.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Subgraph: add-relu-half
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def sign_kernel(a_ptr, b_ptr, o_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(a_ptr + i, mask=i < count) + tl.load(b_ptr + i, mask=i < count)
    tl.store(o_ptr + i, tl.where(s > 0, float("inf"), 0.0).to(tl.float16), mask=i < count)


@torch.fx.wrap
def signs_only(a, b):
    out = torch.empty_like(a)
    sign_kernel[(triton.cdiv(a.numel(), 128),)](a, b, out, a.numel(), BLOCK=128)
    return out


def replacement_func():
    return signs_only
