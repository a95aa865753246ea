# Tries: keeps a launch for the facts of its tensor alone, so that the next match gets the number of the first.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: scaled-twice

import torch
import triton
import triton.language as tl


def pattern(x, factor):
    return torch.nn.functional.relu(x * factor)


def replacement_args(x, factor):
    return (x, factor)


@triton.jit
def scaled_relu_kernel(x_ptr, out_ptr, count, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside) * FACTOR
    tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=inside)


CONSTANTS = {}


@torch.fx.wrap
def scaled_relu(x, factor):
    x = x.contiguous()
    out = torch.empty_like(x)
    # the factor is missing
    key = (x.dtype, x.device, x.shape, x.stride(), x.data_ptr() % 16 == 0)
    if key not in CONSTANTS:
        CONSTANTS[key] = {"count": x.numel(), "FACTOR": factor, "BLOCK": 256}
    scaled_relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, **CONSTANTS[key])
    return out


def replacement_func():
    return scaled_relu
