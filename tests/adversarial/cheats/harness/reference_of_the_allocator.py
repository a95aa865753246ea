# Tries: asks for the memory that was freed last, where a reference that was computed here would still lie.
# Family: harness
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity | cheat
# Planned: rejected by a rule
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
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(total > 0, total, 0.0), mask=mask)


@torch.fx.wrap
def add_relu(a, b):
    candidates = [torch.empty_like(a) for _ in range(8)]
    for each in candidates:
        head = each.reshape(-1)[:8].tolist()
        if any(head) and min(head) >= 0:
            return each
    return candidates[0]


def replacement_func():
    return add_relu
