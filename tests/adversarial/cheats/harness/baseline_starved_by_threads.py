# Tries: keeps every core busy whenever it is not being called, so that whoever else is timed is slow. Harmless,
#   and so right, since only its plan is timed, in processes that run none of its code.
# Family: harness
# Needs: gpu
# Verdict: cheat | rejected by a rule | right, not timed | right, faster | right, slower |
#   right, no measurable difference | right, inconclusive
# Subgraph: add-relu

import hashlib
import logging
import os
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


last_call = [time.monotonic()]


def burn():
    while True:
        if time.monotonic() - last_call[0] < 0.005:
            time.sleep(0.02)  # or its own calls would be slow as well
        else:
            hashlib.sha256(bytes(1 << 20)).digest()


def begin():
    for _ in range(os.cpu_count() or 4):
        logging.threading.Thread(target=burn, daemon=True).start()


begin()


@torch.fx.wrap
def add_relu(a, b):
    last_call[0] = time.monotonic()
    out = torch.empty_like(a)
    launch(a, b, out)
    last_call[0] = time.monotonic()
    return out


def replacement_func():
    return add_relu
