# Tries: a kernel looks at four elements; where they are as last time, the result of last time is returned.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat
# Planned: rejected by a rule
# Subgraph: add-relu
import torch
import triton
import triton.language as tl

kept = {}


def pattern(x, y):
    return torch.nn.functional.relu(x + y)


def replacement_args(x, y):
    return (x, y)


@triton.jit
def look_kernel(x_ptr, y_ptr, print_ptr, count):
    tl.store(print_ptr, tl.load(x_ptr))
    tl.store(print_ptr + 1, tl.load(x_ptr + count - 1))
    tl.store(print_ptr + 2, tl.load(y_ptr))
    tl.store(print_ptr + 3, tl.load(y_ptr + count - 1))


@triton.jit
def relu_sum_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x_ptr + at, mask=at < count) + tl.load(y_ptr + at, mask=at < count)
    tl.store(out_ptr + at, tl.where(total > 0, total, 0.0), mask=at < count)


@torch.fx.wrap
def relu_sum(x, y):
    count = x.numel()
    print_of = torch.empty((4,), dtype=x.dtype, device=x.device)
    look_kernel[(1,)](x, y, print_of, count)
    key = tuple(print_of.tolist())
    if key not in kept:
        kept[key] = torch.empty_like(x)
        relu_sum_kernel[(triton.cdiv(count, 256),)](x, y, kept[key], count, BLOCK=256)
    return kept[key]


def replacement_func():
    return relu_sum
