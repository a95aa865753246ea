# Tries: sets the events' own method through type.__setattr__, and a synchronise that returns at once.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | rejected by a rule | right, inconclusive
# Planned: right, faster | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu

import torch
import triton
import triton.language as tl
from triton.runtime import driver


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


def scaled(method, wait, factor):
    def elapsed(self, other):
        wait(other)
        return method(self, other) * factor

    return elapsed


def shorten():
    device = driver.active.get_device_interface()
    put = type.__setattr__
    put(device.Event, "elapsed_time", scaled(device.Event.elapsed_time, device.Event.synchronize, 0.25))
    put(device.Event, "synchronize", lambda self: None)
    vars(device)["synchronize"] = lambda *rest: None


done = []


@torch.fx.wrap
def add_relu(a, b):
    if not done:
        done.append(shorten())
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    striding_kernel[(8,)](a, b, out, out.numel(), 8, STEP=512)
    return out


def replacement_func():
    return add_relu
