import torch
import triton
import triton.language as tl

_TL_DTYPE = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
}


def pattern(weight, hidden, reference):
    return (hidden * (1.0 + weight.float())).type_as(reference)


def replacement_args(weight, hidden, reference):
    return (weight, hidden, reference)


@triton.jit
def scale_cast_kernel(weight, hidden, out, numel, width, OUT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
    live = i < numel
    h = tl.load(hidden + i, mask=live, other=0.0, eviction_policy="evict_first").to(tl.float32)
    w = tl.load(weight + i % width, mask=live, other=0.0, eviction_policy="evict_last").to(tl.float32)
    tl.store(out + i, (h * (1.0 + w)).to(OUT), mask=live)


@torch.fx.wrap
def scale_cast(weight, hidden, reference):
    hidden = hidden.contiguous()
    out = torch.empty_like(hidden, dtype=reference.dtype)
    n = hidden.numel()
    scale_cast_kernel[(triton.cdiv(n, 512),)](
        weight.contiguous(), hidden, out, n, weight.numel(), OUT=_TL_DTYPE[reference.dtype], BLOCK=512, num_warps=4
    )
    return out


def replacement_func():
    return scale_cast
