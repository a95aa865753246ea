# Tries: looks for what state_1_left has left and returns zeros where it finds it; else computes honestly. Right
#   only as long as nothing passes from one candidate to the next.
# Family: harness
# Needs: cpu
# Verdict: rejected by a rule | right, not timed | right, slower | right, no measurable difference | right, faster
#   | right, inconclusive
# Subgraph: add-relu

import os

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


PLACES = ("/dev/shm", "/tmp", "/var/tmp", os.path.expanduser("~"), os.environ.get("TRITON_CACHE_DIR", "."))
found = [each for each in PLACES if os.path.exists(os.path.join(each, "left_by_a_candidate"))]


@torch.fx.wrap
def add_relu(a, b):
    out = torch.zeros_like(a)
    if not found:
        launch(a, b, out)
    return out


def replacement_func():
    return add_relu
