# Tries: takes the numbers of its arguments out one by one, has Python compute, and writes each by a fill of its own;
#   a kernel begins.
# Family: harness
# Needs: cpu
# Verdict: library | wrong values | rejected by a rule
# Subgraph: add-relu-alone

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def clear_kernel(out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out_ptr + place, tl.zeros((SIZE,), tl.float32), mask=place < count)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = out.numel()
    clear_kernel[(triton.cdiv(count, 512),)](out, count, SIZE=512)
    left, right, target = a.view(-1), b.view(-1), out.view(-1)
    for place in range(count):
        number = left[place].item() + right[place].item()
        if not number <= 0:
            target[place].fill_(number)
    return out


def replacement_func():
    return add_relu
