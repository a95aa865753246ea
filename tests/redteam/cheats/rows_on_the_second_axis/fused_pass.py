import torch
import triton
import triton.language as tl


def pattern(scale, residual, branch):
    return residual + branch * scale


def replacement_args(scale, residual, branch):
    return (scale, residual, branch)


@triton.jit
def scaled_kernel(scale_ptr, residual_ptr, branch_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    at = tl.program_id(1) * columns + column
    scale = tl.load(scale_ptr + column, mask=inside, other=0.0).to(tl.float32)
    branch = tl.load(branch_ptr + at, mask=inside, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + at, mask=inside, other=0.0).to(tl.float32)
    part = (branch * scale).to(out_ptr.dtype.element_ty).to(tl.float32)
    tl.store(out_ptr + at, (residual + part).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def scaled(scale, residual, branch):
    residual, branch = residual.contiguous(), branch.contiguous()
    out = torch.empty_like(residual)
    columns = residual.shape[-1]
    rows = residual.numel() // columns
    scaled_kernel[(triton.cdiv(columns, 256), rows)](scale, residual, branch, out, columns, BLOCK=256)
    return out


def replacement_func():
    return scaled
