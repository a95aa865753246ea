# Tries: a thread submits the kernel only after the caller has synchronised: a synchronise cannot wait for what is
#   not yet there.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | rejected by a rule
# Planned: right, faster | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu-large

import logging
import time

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


Thread = logging.threading.Thread
calls = []


class Late(Thread):
    def __init__(self, a, b, out):
        super().__init__(daemon=True)
        self.tensors = (a, b, out)

    def run(self):
        time.sleep(0.0005)
        a, b, out = self.tensors
        striding_kernel[(8,)](a, b, out, out.numel(), 8, STEP=512)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    calls.append(1)
    if len(calls) < 30:
        striding_kernel[(8,)](a, b, out, out.numel(), 8, STEP=512)
    else:
        Late(a, b, out).start()
    return out


def replacement_func():
    return add_relu
