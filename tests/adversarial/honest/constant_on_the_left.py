# Tries: constexprs of the module stand to the left of what they multiply and divide, where Python asks them first.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: silu-gate

import torch
import triton
import triton.language as tl


def pattern(x, gate):
    return torch.nn.functional.silu(x, inplace=False) * gate


def replacement_args(x, gate):
    return (x, gate)


ONE = tl.constexpr(1.0)
MINUS_LOG2_E = tl.constexpr(-1.4426950408889634)


@triton.jit
def gate_kernel(x_ptr, gate_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside, other=0.0)
    gate = tl.load(gate_ptr + place, mask=inside, other=0.0)
    tl.store(out_ptr + place, x * gate * (ONE / (ONE + tl.exp2(MINUS_LOG2_E * x))), mask=inside)


@torch.fx.wrap
def gated(x, gate):
    out = torch.empty_like(x)
    gate_kernel[(triton.cdiv(x.numel(), 256),)](x, gate, out, x.numel(), SIZE=256)
    return out


def replacement_func():
    return gated
