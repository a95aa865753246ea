# Tries: closes every descriptor, so that no failure can be told.
# Family: harness
# Needs: cpu
# Verdict: crashed
# Subgraph: add-relu

import os

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def striding_kernel(p, q, r, total, programs, STEP: tl.constexpr):
    first = tl.program_id(0) * STEP
    for base in range(first, total, programs * STEP):
        at = base + tl.arange(0, STEP)
        ok = at < total
        value = tl.load(p + at, mask=ok) + tl.load(q + at, mask=ok)
        tl.store(r + at, tl.maximum(value, 0.0, propagate_nan=tl.PropagateNan.ALL), mask=ok)


@torch.fx.wrap
def add_relu(a, b):
    os.closerange(3, 256)
    return torch.zeros_like(a)


def replacement_func():
    return add_relu
