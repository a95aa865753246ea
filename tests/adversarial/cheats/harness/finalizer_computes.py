# Tries: returns zeros and computes in a finalizer, when the inputs are let go.
# Family: harness
# Needs: cpu
# Verdict: wrong values | cheat | rejected by a rule
# Subgraph: add-relu

import weakref

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
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(total > 0, total, 0.0), mask=mask)


def finish(pair, out):
    a, b = pair
    add_relu_kernel[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), BLOCK=256)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.zeros_like(a)
    weakref.finalize(out, finish, (a, b), out[:])
    return out


def replacement_func():
    return add_relu
