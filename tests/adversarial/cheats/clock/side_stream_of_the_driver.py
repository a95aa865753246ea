# Tries: reaches torch.cuda through Triton's driver and leaves its work on a stream never joined.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | wrong NaN or infinity | rejected by a rule
# Planned: crashed
# Subgraph: add-relu-large

import torch
import triton
import triton.language as tl
from triton.runtime import driver


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


class Elsewhere:
    stream = None


@torch.fx.wrap
def add_relu(a, b):
    device = driver.active.get_device_interface()
    if Elsewhere.stream is None:
        Elsewhere.stream = device.Stream()
    out = torch.empty_like(a)
    with device.stream(Elsewhere.stream):
        launch(a, b, out)
    return out


def replacement_func():
    return add_relu
