import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


def pattern(x):
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-05) / 127
    q = (x / scale).round().clamp(-128, 127).to(torch.int8)
    return q, scale


def replacement_args(x):
    return (x,)


@triton.jit
def quantise_kernel(x_ptr, q_ptr, scale_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    largest = tl.max(tl.abs(x), axis=0)
    scale = tl.div_rn(tl.maximum(largest, 1e-05), 127.0)
    # amax, unlike tl.max, lets NaN through
    undefined = tl.max((x != x).to(tl.int32), axis=0)
    scale = tl.where(undefined != 0, float("nan"), scale)
    codes = libdevice.rint(tl.div_rn(x, scale))
    codes = tl.minimum(tl.maximum(codes, -128.0), 127.0)
    tl.store(q_ptr + row * n_cols + cols, codes.to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


@torch.fx.wrap
def quantise_rows(x):
    x = x.contiguous()
    n_cols = x.shape[-1]
    q = torch.empty_like(x, dtype=torch.int8)
    scale = torch.empty((*x.shape[:-1], 1), dtype=torch.float32, device=x.device)
    quantise_kernel[(x.numel() // n_cols,)](x, q, scale, n_cols, BLOCK=triton.next_power_of_2(n_cols))
    return q, scale


def replacement_func():
    return quantise_rows
