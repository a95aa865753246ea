"""Division of a transposed view. Division is elementwise, so the memory order of the input can simply be kept."""

import torch
import triton
import triton.language as tl


@triton.jit
def div_number_kernel(x_ptr, y_ptr, n, divisor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y_ptr + i, (x / divisor).to(y_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def div_tensor_kernel(x_ptr, y_ptr, n, divisor_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    divisor = tl.load(divisor_ptr).to(tl.float32)
    tl.store(y_ptr + i, (x / divisor).to(y_ptr.dtype.element_ty), mask=i < n)


@torch.fx.wrap
def scaled_transpose(x, divisor, route):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    grid = (triton.cdiv(n, 1024),)
    if route == "heads_by_number":
        div_number_kernel[grid](x, y, n, divisor, BLOCK=1024)
        return y.transpose(1, 2)
    if route == "matrix_by_tensor":
        if isinstance(divisor, torch.Tensor):
            assert divisor.numel() == 1
            div_tensor_kernel[grid](x, y, n, divisor, BLOCK=1024)
        else:
            div_number_kernel[grid](x, y, n, divisor, BLOCK=1024)
        return y.transpose(-1, -2)
    raise ValueError(f"unknown route {route!r}")
