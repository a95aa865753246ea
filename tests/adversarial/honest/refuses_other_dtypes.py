# Tries: raises a clear error for dtypes that the kernel was not written for; this subgraph has none of them.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


SUPPORTED = (torch.float32, torch.float64)


@torch.fx.wrap
def add_relu(a, b):
    if a.dtype not in SUPPORTED:
        raise TypeError(f"add_relu supports {', '.join(map(str, SUPPORTED))}, not {a.dtype}")
    if a.shape != b.shape:
        raise ValueError(f"add_relu needs equal shapes, not {tuple(a.shape)} and {tuple(b.shape)}")
    out = torch.empty_like(a)
    add_relu_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out


def replacement_func():
    return add_relu
