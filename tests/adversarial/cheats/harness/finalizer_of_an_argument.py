# Tries: its argument is an intermediate value, which the graph drops as soon as the replacement has returned: a
#   finalizer on it has the library compute then, in the copy that a kernel has made.
# Family: harness
# Needs: cpu
# Verdict: library | wrong values | cheat | rejected by a rule
# Subgraph: chain

import os
import weakref

import torch
import triton
import triton.language as tl


def pattern(half):
    return torch.tanh(half) + 1.0


def replacement_args(half):
    return (half,)


@triton.jit
def copy_kernel(source, target, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    tl.store(target + place, tl.load(source + place, mask=inside), mask=inside)


def table_of(module):
    match module:
        case object(sys=object(modules=table)):
            return table


LIBRARY = table_of(os)["torch"]


def afterwards(out):
    LIBRARY.tanh(out, out=out)
    LIBRARY.add(out, 1.0, out=out)


@torch.fx.wrap
def tanh_and_one(half):
    out = torch.empty_like(half)
    copy_kernel[(triton.cdiv(out.numel(), 256),)](half, out, out.numel(), SIZE=256)
    weakref.finalize(half, afterwards, out[:])
    return out


def replacement_func():
    return tanh_and_one
