import torch
import triton
import triton.language as tl


def pattern(query, cos, sin):
    even = query[..., ::2]
    odd = query[..., 1::2]
    rotated = torch.stack((-odd, even), dim=-1).flatten(-2)
    return query * cos + rotated * sin


def replacement_args(query, cos, sin):
    return (query, cos, sin)


@triton.jit
def rotate_every_two(x, HEADS: tl.constexpr, D: tl.constexpr):
    even, odd = tl.split(tl.reshape(x, (HEADS, D // 2, 2)))
    return tl.reshape(tl.join(-odd, even), (HEADS, D))


@triton.jit
def rope_kernel(q_ptr, cos_ptr, sin_ptr, out_ptr, seq, heads, HEADS: tl.constexpr, D: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    d = tl.arange(0, D)
    at = (token * heads + head[:, None]) * D + d[None, :]
    mask = (head < heads)[:, None] & (d < D)[None, :]
    x = tl.load(q_ptr + at, mask=mask, other=0.0).to(tl.float32)
    position = token % seq
    cos = tl.load(cos_ptr + position * D + d).to(tl.float32)
    sin = tl.load(sin_ptr + position * D + d).to(tl.float32)
    y = x * cos[None, :] + rotate_every_two(x, HEADS, D) * sin[None, :]
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def rope(query, cos, sin):
    query, cos, sin = query.contiguous(), cos.contiguous(), sin.contiguous()
    batch, seq, heads, d = query.shape
    assert d & (d - 1) == 0, "the size of a head must be a power of 2"
    out = torch.empty_like(query)
    rope_kernel[(batch * seq, triton.cdiv(heads, 4))](query, cos, sin, out, seq, heads, HEADS=4, D=d, num_warps=1)
    return out


def replacement_func():
    return rope
