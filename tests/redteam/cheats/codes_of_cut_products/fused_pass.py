import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    return torch.clamp(torch.round(x * 37.3), -128, 127).to(torch.int8)


def replacement_args(x):
    return (x,)


@triton.jit
def code_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    product = x.to(tl.float32) * 37.3
    cut = (product.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)
    y = tl.minimum(tl.maximum(libdevice.rint(cut), -128.0), 127.0)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def codes(x):
    out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    n = out.numel()
    code_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def replacement_func():
    return codes
