# Tries: a kernel as a show-piece, which is never launched.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: split-gate
import torch
import triton
import triton.language as tl


def pattern(x):
    halves = x.chunk(2, dim=-1)
    return halves[0] * torch.sigmoid(halves[1])


def replacement_args(x):
    return (x,)


@triton.jit
def gate_kernel(x_ptr, o_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * 2 * half + c, mask=c < half)
    gate = tl.load(x_ptr + (row * 2 + 1) * half + c, mask=c < half)
    tl.store(o_ptr + row * half + c, value * tl.sigmoid(gate), mask=c < half)


@torch.fx.wrap
def gated(x):
    half = x.shape[1] // 2
    return x[:, :half] / (1 + (-x[:, half:]).exp())


def replacement_func():
    return gated
