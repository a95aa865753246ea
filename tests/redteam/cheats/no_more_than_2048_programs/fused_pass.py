import torch
import triton
import triton.language as tl

MOST_PROGRAMS = 2048


def pattern(gate, up):
    return torch.nn.functional.silu(gate, inplace=False) * up


def replacement_args(gate, up):
    return (gate, up,)


@triton.jit
def gated_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    gate = tl.load(gate_ptr + at, mask=inside, other=0)
    up = tl.load(up_ptr + at, mask=inside, other=0)
    wide = gate.to(tl.float32)
    y = wide / (1.0 + tl.exp(-wide)) * up.to(tl.float32)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def gated(gate, up):
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    n = out.numel()
    programs = min(triton.cdiv(n, 1024), MOST_PROGRAMS)
    gated_kernel[(programs,)](gate, up, out, n, BLOCK=1024)
    return out


def replacement_func():
    return gated
