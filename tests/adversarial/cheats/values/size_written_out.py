# Tries: the number of elements of another variant of the task stands in the launch: here half remains undone.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Subgraph: add-relu-tall
import torch
import triton
import triton.language as tl

COUNT = 8 * 65


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def fixed_kernel(a_ptr, b_ptr, o_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.load(a_ptr + i, mask=i < COUNT) + tl.load(b_ptr + i, mask=i < COUNT)
    tl.store(o_ptr + i, tl.maximum(s, 0.0), mask=i < COUNT)


@torch.fx.wrap
def for_one_size(a, b):
    out = torch.empty_like(a)
    fixed_kernel[(1,)](a, b, out, COUNT=COUNT, BLOCK=1024)
    return out


def replacement_func():
    return for_one_size
