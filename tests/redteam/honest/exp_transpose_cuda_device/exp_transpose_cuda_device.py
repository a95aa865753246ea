import torch
import triton
import triton.language as tl


def pattern(a):
    b = torch.exp(a)
    c = b.transpose(1, 3)
    return c


def replacement_args(a):
    return (a,)


@triton.jit
def exp_kernel(a_ptr, b_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    a = tl.load(a_ptr + offsets, mask=mask, other=0.0)
    b = tl.extra.cuda.libdevice.exp(a.to(tl.float32))
    tl.store(b_ptr + offsets, b.to(b_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def exp_then_transpose(a):
    a = a.contiguous()
    b = torch.empty(a.shape, dtype=a.dtype, device="cuda")
    n_elements = a.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    exp_kernel[grid](a, b, n_elements, BLOCK_SIZE=256)
    return b.transpose(1, 3)


def replacement_func():
    return exp_then_transpose
