import torch
import triton
import triton.language as tl


def pattern(gate, up):
    return torch.sigmoid(gate) * up


def replacement_args(gate, up):
    return (gate, up)


@triton.jit
def gated_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    gate = tl.load(gate_ptr + at, mask=inside, other=0.0)
    up = tl.load(up_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.sigmoid(gate) * up, mask=inside)


@torch.fx.wrap
def gated(gate, up):
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    n = out.numel()
    flat_gate = gate.as_strided((n,), (1,), 0)
    flat_up = up.as_strided((n,), (1,), 0)
    gated_kernel[(triton.cdiv(n, 256),)](flat_gate, flat_up, out, n, BLOCK=256)
    return out


def replacement_func():
    return gated
