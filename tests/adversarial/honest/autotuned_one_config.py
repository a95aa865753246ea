# Tries: an autotuned kernel with a single configuration, as generated code often has it.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.autotune(configs=[triton.Config({"BLOCK": 512}, num_warps=4)], key=["count"])
@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=inside)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    gelu_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out


def replacement_func():
    return gelu
