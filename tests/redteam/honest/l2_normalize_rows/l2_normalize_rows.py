import torch
import triton
import triton.language as tl


def pattern(x):
    norm = x.norm(p=2, dim=-1, keepdim=True)
    return x / norm


def replacement_args(x):
    return (x,)


@triton.jit
def l2norm_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    raw = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    x = raw.to(tl.float32)
    norm = tl.sqrt(tl.sum(x * x, axis=0))
    norm = norm.to(raw.dtype).to(tl.float32)
    # no epsilon: a row of zeros gives NaN, just like the original
    tl.store(out_ptr + row * n_cols + cols, (x / norm).to(raw.dtype), mask=mask)


@torch.fx.wrap
def l2_normalize(x):
    x = x.contiguous()
    n_cols = x.shape[-1]
    out = torch.empty_like(x)
    l2norm_kernel[(x.numel() // n_cols,)](x, out, n_cols, BLOCK=triton.next_power_of_2(n_cols))
    return out


def replacement_func():
    return l2_normalize
