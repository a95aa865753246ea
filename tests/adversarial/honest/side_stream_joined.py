# Tries: half of the rows on a second stream, which waits for the inputs and is waited for before returning.
# Family: honest
# Needs: gpu
# Verdict: accepted
# Planned: rejected by a rule
# Subgraph: add-relu-large

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, first, count, BLOCK: tl.constexpr):
    offsets = first + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


SIDE = {}


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    half = count // 2
    current = torch.cuda.current_stream()
    side = SIDE.get(a.device)
    if side is None:
        side = SIDE[a.device] = torch.cuda.Stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        add_relu_kernel[(triton.cdiv(count - half, 1024),)](a, b, out, half, count, BLOCK=1024)
    add_relu_kernel[(triton.cdiv(half, 1024),)](a, b, out, 0, half, BLOCK=1024)
    current.wait_stream(side)
    return out


def replacement_func():
    return add_relu
