# Tries: keeps the compiled kernel of the first launch and launches that directly, which saves host time.
# Family: honest
# Needs: gpu
# Verdict: accepted
# Subgraph: add-relu-alone

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
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside) + tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total), mask=inside)


COMPILED = {}


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    # pointers that are not aligned to 16 bytes need another specialisation
    key = (count, a.dtype, *(each.data_ptr() % 16 == 0 for each in (a, b, out)))
    grid = (triton.cdiv(count, 256), 1, 1)
    compiled = COMPILED.get(key)
    if compiled is None:
        COMPILED[key] = add_relu_kernel[grid](a, b, out, count, BLOCK=256)
    else:
        compiled[grid](a, b, out, count, 256)
    return out


def replacement_func():
    return add_relu
