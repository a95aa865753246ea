# Tries: a table from torch's dtypes to Triton's, handed to the kernel as a constexpr.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu-half

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


TRITON_DTYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    total = tl.load(a_ptr + offsets, mask=inside).to(tl.float32) + tl.load(b_ptr + offsets, mask=inside).to(tl.float32)
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total).to(DTYPE), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[(triton.cdiv(count, 256),)](a, b, out, count, DTYPE=TRITON_DTYPES[a.dtype], BLOCK=256)
    return out


def replacement_func():
    return add_relu
