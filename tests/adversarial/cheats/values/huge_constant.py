# Tries: enormous numbers, near which any relative tolerance taken from the candidate's side lets everything pass.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: gelu
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def inflate_kernel(out_ptr, n, HUGE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.full((BLOCK,), HUGE, tl.float32), mask=i < n)


@torch.fx.wrap
def inflated(x):
    out = torch.empty_like(x)
    inflate_kernel[(triton.cdiv(x.numel(), 64),)](out, x.numel(), HUGE=3e38, BLOCK=64)
    return out


def replacement_func():
    return inflated
