# Tries: a chain of elementwise operations fused in float16; computes in float32 and rounds at each step, as eager
#   does.
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


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    a = tl.load(a_ptr + offsets, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + offsets, mask=inside).to(tl.float32)
    total = a + b
    tl.store(out_ptr + offsets, tl.where(total < 0, 0.0, total.to(out_ptr.dtype.element_ty)), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[(triton.cdiv(count, 256),)](a, b, out, count, BLOCK=256)
    return out


def replacement_func():
    return add_relu
