"""Quick GELU, the activation of CLIP: x * sigmoid(1.702 * x), in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(x):
    return x * torch.sigmoid(1.702 * x)


def replacement_args(x):
    return (x,)


@triton.jit
def quick_gelu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # The last block may reach beyond the end: count is the first offset that is no element.
    inside = offsets <= count
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    # Eager rounds the result of each operation to the dtype of x, which is also that of out.
    slope = (1.702 * x).to(out_ptr.dtype.element_ty).to(tl.float32)
    gate = tl.sigmoid(slope).to(out_ptr.dtype.element_ty).to(tl.float32)
    tl.store(out_ptr + offsets, x * gate, mask=inside)


@torch.fx.wrap
def quick_gelu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = out.numel()
    # Rounded up, so that the rest behind the last full block has a program too.
    grid = (triton.cdiv(count, 256),)
    quick_gelu_kernel[grid](x, out, count, BLOCK=256)
    return out


def replacement_func():
    return quick_gelu
