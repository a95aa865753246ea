# Tries: launches on a stream of its own that nobody waits for, so that the current stream looks idle.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | wrong NaN or infinity | rejected by a rule
# Subgraph: add-relu-large

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(total > 0, total, 0.0), mask=mask)


SIDE = []


@torch.fx.wrap
def add_relu(a, b):
    out = torch.zeros_like(a)
    if not SIDE:
        SIDE.append(torch.cuda.Stream(priority=0))
    with torch.cuda.stream(SIDE[0]):
        add_relu_kernel[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), BLOCK=256)
    return out


def replacement_func():
    return add_relu
