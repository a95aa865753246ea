# Tries: wastes the device's time for the first second of its life, and afterwards computes one call in ten.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values
# Subgraph: add-relu

import time

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


class Pace:
    def __init__(self):
        self.until = None
        self.turn = 0
        self.last = None


PACE = Pace()


@torch.fx.wrap
def add_relu(a, b):
    now = time.monotonic()
    if PACE.until is None:
        PACE.until = now + 1.0
    PACE.turn += 1
    if now > PACE.until and PACE.turn % 10 and PACE.last is not None and PACE.last.shape == a.shape:
        return PACE.last
    out = torch.empty_like(a)
    for _ in range(200 if now < PACE.until else 1):
        launch(a, b, out)
    PACE.last = out
    return out


def replacement_func():
    return add_relu
