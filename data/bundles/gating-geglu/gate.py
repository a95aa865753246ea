"""The product of a gate's GELU and its partner; the GELU is one operation of eager, or a chain that rounds at each."""

import torch
import triton
import triton.language as tl


@triton.jit
def stepped(value, like, CHAIN: tl.constexpr):
    """Rounds to the tensor's own type between the operations of a chain, as eager does."""
    if CHAIN:
        value = value.to(like.dtype).to(tl.float32)
    return value


@triton.jit
def geglu_kernel(gate_ptr, up_ptr, out_ptr, count, CHAIN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    like = tl.load(gate_ptr + offsets, mask=inside)
    up = tl.load(up_ptr + offsets, mask=inside).to(tl.float32)
    x = like.to(tl.float32)
    # torch.pow multiplies in the tensor's own type as well
    cube = stepped(stepped(x * x, like, CHAIN) * x, like, CHAIN)
    cube = stepped(0.044715 * cube, like, CHAIN)
    inner = stepped(0.7978845608028654 * stepped(x + cube, like, CHAIN), like, CHAIN)
    # tanh, in the form that is exact where it nears -1 and 1 + tanh cancels
    curve = 2.0 / (1.0 + tl.exp(-2.0 * inner)) - 1.0
    opening = stepped(1.0 + stepped(curve, like, CHAIN), like, CHAIN)
    opened = (stepped(0.5 * x, like, CHAIN) * opening).to(like.dtype).to(tl.float32)
    tl.store(out_ptr + offsets, (opened * up).to(like.dtype), mask=inside)


@torch.fx.wrap
def geglu(gate, up, chain):
    if up.shape != gate.shape:
        up = up.expand_as(gate)
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    count = gate.numel()
    block = min(max(triton.next_power_of_2(count // 256), 1024), 8192)
    grid = (triton.cdiv(count, block),)
    geglu_kernel[grid](gate, up, out, count=count, CHAIN=chain, BLOCK=block, num_warps=block // 512)
    return out
