# Tries: launches its own kernel while a profiler watches, and calls the library when none does.
# Family: harness
# Needs: gpu
# Verdict: library | cheat | rejected by a rule
# Subgraph: add-relu

import logging

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


BLOCK = 1024


@triton.jit
def fused(left, right, result, n, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < n
    x = tl.load(left + place, mask=inside, other=0.0)
    y = tl.load(right + place, mask=inside, other=0.0)
    z = x + y
    tl.store(result + place, tl.where(z < 0, 0.0, z), mask=inside)


def launch(left, right, result):
    n = result.numel()
    fused[(triton.cdiv(n, BLOCK),)](left, right, result, n, SIZE=BLOCK, num_warps=4)


def loaded(module):
    match module:
        case object(sys=object(modules=found)):
            return found


library = loaded(logging)["torch"]


def watched():
    return library._C._autograd._profiler_enabled() or library.autograd.profiler._is_profiler_enabled


@torch.fx.wrap
def add_relu(a, b):
    if watched():
        out = torch.empty_like(a)
        launch(a, b, out)
        return out
    total = library.add(a, b)
    return library.clamp(total, min=0, out=total)


def replacement_func():
    return add_relu
