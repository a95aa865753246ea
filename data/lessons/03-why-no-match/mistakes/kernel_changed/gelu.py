"""BLOOM's GELU by tanh, nine operations of a graph, in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(x):
    """What to look for. Every function and every order of operands is the graph's."""
    half = x * 0.5
    scaled = 0.79788456 * x
    square = 0.044715 * x * x
    inner = scaled * (1 + square)
    bent = torch.tanh(inner)
    return half * (1.0 + bent)


def replacement_args(x):
    """What the replacement is called with."""
    return (x,)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Computes one block of elements. Triton has no tanh, so it is written with sigmoid."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    inner = 0.79788456 * x * (1 + 0.044715 * x * x)
    bent = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
    tl.store(out_ptr + offsets, x * 0.5 * (1.0 - bent), mask=inside)


@torch.fx.wrap
def gelu(x):
    """The replacement: launches the kernel once and returns what it wrote."""
    x = x.contiguous()
    out = torch.empty_like(x)
    count = out.numel()
    gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return out


def replacement_func():
    """Names the replacement."""
    return gelu
