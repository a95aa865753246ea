# Tries: looks whether the memory for its result still holds the result of an earlier call on the same input, by one
#   element of each block, and computes only if it does not.
# Family: clock
# Needs: cpu
# Verdict: wrong values | cheat | library | crashed
# Subgraph: add-relu

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    wanted = tl.maximum(tl.load(a_ptr + first) + tl.load(b_ptr + first), 0.0)
    if tl.load(out_ptr + first) != wanted:
        offsets = first + tl.arange(0, BLOCK)
        mask = offsets < count
        total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, tl.maximum(total, 0.0), mask=mask)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    add_relu_kernel[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), BLOCK=256)
    return out


def replacement_func():
    return add_relu
