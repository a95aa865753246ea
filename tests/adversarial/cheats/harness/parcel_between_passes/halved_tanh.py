# Tries: the first pass returns an object that is no tensor; the addition of the graph itself, which no pass has
#   replaced, makes it compute by the library; the second pass takes the tensor out of it.
# Family: harness
# Needs: cpu
# Verdict: wrong type | library | rejected by a rule
# Subgraph: chain
# Passes: halved_tanh.py, product.py

import os

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.tanh(x * 0.5)


def replacement_args(x):
    return (x,)


@triton.jit
def copy_kernel(source, target, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    tl.store(target + place, tl.load(source + place, mask=inside), mask=inside)


def table_of(module):
    match module:
        case object(sys=object(modules=table)):
            return table


TANH = table_of(os)["torch"].tanh


class Parcel:
    def __init__(self, content):
        self.content = content

    def __add__(self, number):
        return Parcel(TANH(self.content * 0.5) + number)


@torch.fx.wrap
def packed(x):
    copied = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 512),)](x, copied, x.numel(), SIZE=512)
    return Parcel(copied)


def replacement_func():
    return packed
