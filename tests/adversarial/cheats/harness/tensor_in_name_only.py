# Tries: returns an object that claims to be a tensor by __class__ and equals everything.
# Family: harness
# Needs: cpu
# Verdict: wrong type | crashed
# Subgraph: add-relu

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


class Everything:
    def __init__(self, like):
        self.shape, self.dtype, self.device, self.layout = like.shape, like.dtype, like.device, like.layout

    __class__ = torch.Tensor

    def __eq__(self, other):
        return True

    def stride(self):
        return (self.shape[-1], 1)

    def detach(self):
        return self

    def __getattr__(self, name):
        return lambda *rest, **named: self


@torch.fx.wrap
def add_relu(a, b):
    return Everything(a)


def replacement_func():
    return add_relu
