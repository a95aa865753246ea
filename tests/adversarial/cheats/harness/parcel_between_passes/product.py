import torch
import triton
import triton.language as tl


def pattern(shifted, x):
    return shifted * x


def replacement_args(shifted, x):
    return (shifted, x)


@triton.jit
def product_kernel(left, right, target, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    product = tl.load(left + place, mask=inside) * tl.load(right + place, mask=inside)
    tl.store(target + place, product, mask=inside)


@torch.fx.wrap
def unpacked(parcel, x):
    out = torch.empty_like(x)
    product_kernel[(triton.cdiv(x.numel(), 512),)](parcel.content, x, out, x.numel(), SIZE=512)
    return out


def replacement_func():
    return unpacked
