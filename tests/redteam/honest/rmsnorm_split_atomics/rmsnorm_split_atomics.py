"""RMSNorm for few, long rows.

With 32 rows a program per row leaves most of the GPU idle. The sum of squares is therefore split over several programs
per row, which add their part atomically to a zeroed float32 buffer; a second kernel normalises.
"""

import torch
import triton
import triton.language as tl


def pattern(x, weight, eps):
    h = x.float()
    ms = h.pow(2).mean(-1, keepdim=True)
    ms = ms + eps
    h = h * torch.rsqrt(ms)
    h = h * weight
    return h.type_as(x)


def replacement_args(x, weight, eps):
    return (x, weight, eps)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 512}, num_warps=4),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ],
    key=["n_cols"],
    reset_to_zero=["sumsq_ptr"],
)
@triton.jit
def sumsq_kernel(x_ptr, sumsq_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    tl.atomic_add(sumsq_ptr + row, tl.sum(x * x, axis=0))


@triton.jit
def normalize_kernel(x_ptr, w_ptr, sumsq_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    inv = tl.rsqrt(tl.load(sumsq_ptr + row) / n_cols + eps)
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, (x * inv * w).to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def split_rms_norm(x, weight, eps):
    x = x.contiguous()
    n_cols = x.shape[-1]
    n_rows = x.numel() // n_cols
    sumsq = torch.zeros(n_rows, dtype=torch.float32, device=x.device)
    y = torch.empty_like(x)
    sumsq_kernel[lambda meta: (n_rows, triton.cdiv(n_cols, meta["BLOCK"]))](x, sumsq, n_cols)
    normalize_kernel[(n_rows, triton.cdiv(n_cols, 1024))](x, weight, sumsq, y, n_cols, eps, BLOCK=1024)
    return y


def replacement_func():
    return split_rms_norm
