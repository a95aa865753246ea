import torch
import triton
import triton.language as tl


def pattern(qkv, bias):
    biased = qkv + bias
    parts = biased.view(2, 12, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
    q = parts[0] * 0.25
    return q, parts[1], parts[2]


def replacement_args(qkv, bias):
    return (qkv, bias)


@triton.jit
def split_heads_kernel(
    qkv_ptr, bias_ptr, out_ptr, total, batch, seq, scale, HEADS: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    # out is (3, batch, HEADS, seq, D), qkv is (batch, seq, 3, HEADS, D)
    d = at % D
    s = (at // D) % seq
    h = (at // (D * seq)) % HEADS
    b = (at // (D * seq * HEADS)) % batch
    which = at // (D * seq * HEADS * batch)
    channel = (which * HEADS + h) * D + d
    x = tl.load(qkv_ptr + (b * seq + s) * (3 * HEADS * D) + channel, mask=mask, other=0.0).to(tl.float32)
    x += tl.load(bias_ptr + channel, mask=mask, other=0.0).to(tl.float32)
    x = x.to(out_ptr.dtype.element_ty).to(tl.float32)
    x = tl.where(which == 0, x * scale, x)
    tl.store(out_ptr + at, x.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def split_heads(qkv, bias):
    qkv = qkv.contiguous()
    batch, seq, width = qkv.shape
    heads = 4
    d = width // (3 * heads)
    packed = torch.empty((3, batch, heads, seq, d), dtype=qkv.dtype, device=qkv.device)
    total = packed.numel()
    split_heads_kernel[(triton.cdiv(total, 512),)](
        qkv, bias, packed, total, batch, seq, 0.25, HEADS=heads, D=d, BLOCK=512
    )
    q, k, v = packed.unbind(0)
    return q, k, v


def replacement_func():
    return split_heads
