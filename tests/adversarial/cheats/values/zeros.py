# Tries: writes zeros, which many comparisons with a loose absolute tolerance would let pass.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: add-relu
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def clear_kernel(out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 0.0, mask=offsets < count)


@torch.fx.wrap
def cleared(a, b):
    out = torch.empty_like(a)
    clear_kernel[(triton.cdiv(a.numel(), 256),)](out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return cleared
