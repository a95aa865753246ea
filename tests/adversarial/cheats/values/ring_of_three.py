# Tries: hands out three buffers in turn, so that every fourth call overwrites a result that was returned before.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Planned: right, not timed
# Subgraph: add-relu-alone

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


RINGS = {}


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    s = tl.load(a_ptr + place, mask=inside) + tl.load(b_ptr + place, mask=inside)
    tl.store(out_ptr + place, tl.where(s < 0, 0.0, s), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    key = (a.shape, a.dtype, a.device)
    if key not in RINGS:
        RINGS[key] = [torch.empty_like(a) for _ in range(3)]
    ring = RINGS[key]
    out = ring.pop(0)
    ring.append(out)
    add_relu_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), SIZE=256)
    return out


def replacement_func():
    return add_relu
