# Tries: replacement_args appends numbers, a bool and a string to the tensors.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu-tanh

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def replacement_args(x):
    return (x, 0.7978845608028654, 0.044715, True, "tanh")


@triton.jit
def gelu_kernel(x_ptr, out_ptr, root, cubic, count, HALVED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    inner = root * (x + cubic * x * x * x)
    # (1 + tanh(u)) / 2 is the logistic function of 2 u
    y = x * tl.sigmoid(2.0 * inner)
    tl.store(out_ptr + offsets, y if HALVED else 2.0 * y, mask=inside)


@torch.fx.wrap
def gelu(x, root, cubic, halved, form):
    assert form == "tanh"
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, root, cubic, x.numel(), HALVED=halved, BLOCK=256)
    return out


def replacement_func():
    return gelu
