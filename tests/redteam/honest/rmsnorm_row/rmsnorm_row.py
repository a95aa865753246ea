import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x, weight):
    xf = x.float()
    variance = xf.pow(2).mean(-1, keepdim=True)
    normed = xf * torch.rsqrt(variance + 1e-06)
    return (normed * weight).type_as(x)


def replacement_args(x, weight):
    return (x, weight)


@triton.jit
def _rms_norm_kernel(x_ptr, w_ptr, y_ptr, stride_row, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(x_ptr + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
    mean_sq = tl.sum(x * x, axis=0) / N
    rrms = libdevice.rsqrt(mean_sq + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * stride_row + cols, (x * rrms * w).to(y_ptr.dtype.element_ty), mask=mask)


def _num_warps(block: int) -> int:
    # the heuristic of Liger and Unsloth
    if block >= 32768:
        return 32
    if block >= 8192:
        return 16
    if block >= 2048:
        return 8
    return 4


@torch.fx.wrap
def rms_norm(x, weight):
    shape = x.shape
    x = x.contiguous().view(-1, shape[-1])
    y = torch.empty_like(x)
    n_rows, n_cols = x.shape
    block = triton.next_power_of_2(n_cols)
    _rms_norm_kernel[(n_rows,)](x, weight, y, x.stride(0), n_cols, 1e-06, BLOCK_SIZE=block, num_warps=_num_warps(block))
    return y.view(*shape)


def replacement_func():
    return rms_norm
