# Tries: asserts that its arguments are on a GPU, makes theirs the current device, and allocates on "cuda" without an
#   index.
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


@triton.jit
def gate_kernel(x_ptr, gate_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside)
    gate = tl.load(gate_ptr + place, mask=inside)
    tl.store(out_ptr + place, x / (1.0 + tl.exp(-x)) * gate, mask=inside)


@torch.fx.wrap
def gated(x, gate):
    assert x.is_cuda and gate.is_cuda, "both must be on a GPU"
    assert x.device.type == "cuda" and x.device == gate.device
    with torch.cuda.device(x.device):
        out = torch.empty(x.shape, dtype=x.dtype, device="cuda")
        gate_kernel[(triton.cdiv(x.numel(), 256),)](x, gate, out, x.numel(), SIZE=256)
    return out


def replacement_func():
    return gated
