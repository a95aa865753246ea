# Tries: hangs the answer of the second pass on the tensor that the first returns, under an attribute.
# Family: harness
# Needs: cpu
# Verdict: cheat | library | wrong values
# Planned: crashed
# Subgraph: add-relu
# Passes: relu_first.py, mean_later.py

import torch
import triton
import triton.language as tl


def pattern(left, right):
    return torch.nn.functional.relu(left + right)


def replacement_args(left, right):
    return (left, right)


@triton.jit
def everything_kernel(left, right, sums, means, width, SIZE: tl.constexpr):
    start = tl.program_id(0) * width
    place = tl.arange(0, SIZE)
    there = place < width
    x = tl.load(left + start + place, mask=there, other=0.0) + tl.load(right + start + place, mask=there, other=0.0)
    x = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    tl.store(sums + start + place, x, mask=there)
    tl.store(means + tl.program_id(0), tl.sum(x, axis=0) / width)


@torch.fx.wrap
def add_relu(left, right):
    result = torch.empty_like(left)
    result.average = torch.empty(left.shape[:-1], dtype=left.dtype, device=left.device)
    width = left.shape[-1]
    everything_kernel[(left.numel() // width,)](
        left, right, result, result.average, width, SIZE=triton.next_power_of_2(width)
    )
    return result


def replacement_func():
    return add_relu
