"""Standardise rows. Few rows and many columns: each row is split over several programs (Chan et al., 1979)."""
import torch
import triton
import triton.language as tl


def pattern(x):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    centred = x - mean
    return centred * torch.rsqrt(var + 1e-05)


def replacement_args(x):
    return (x,)


@triton.jit
def chan_merge(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count = count_a + count_b
    share = count_b / count
    delta = mean_b - mean_a
    return count, mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share


@triton.jit
def partial_moments_kernel(x_ptr, part_ptr, n_cols, splits, SPLIT: tl.constexpr):
    row = tl.program_id(0)
    split = tl.program_id(1)
    cols = split * SPLIT + tl.arange(0, SPLIT)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    count = tl.minimum(n_cols - split * SPLIT, SPLIT).to(tl.float32)
    mean = tl.sum(x, axis=0) / count
    centred = tl.where(mask, x - mean, 0.0)
    m2 = tl.sum(centred * centred, axis=0)
    base = part_ptr + (row * splits + split) * 2
    tl.store(base, mean)
    tl.store(base + 1, m2)


@triton.jit
def standardise_kernel(x_ptr, part_ptr, y_ptr, n_cols, splits, eps, SPLIT: tl.constexpr):
    row = tl.program_id(0)
    count = 0.0
    mean = 0.0
    m2 = 0.0
    for split in range(splits):
        base = part_ptr + (row * splits + split) * 2
        here = tl.minimum(n_cols - split * SPLIT, SPLIT).to(tl.float32)
        count, mean, m2 = chan_merge(count, mean, m2, here, tl.load(base), tl.load(base + 1))
    inv = tl.rsqrt(m2 / count + eps)
    for split in range(splits):
        cols = split * SPLIT + tl.arange(0, SPLIT)
        mask = cols < n_cols
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * n_cols + cols, ((x - mean) * inv).to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def standardise_rows(x):
    x = x.contiguous()
    n_cols = x.shape[-1]
    n_rows = x.numel() // n_cols
    split = 128
    splits = triton.cdiv(n_cols, split)
    parts = torch.empty((n_rows, splits, 2), dtype=torch.float32, device=x.device)
    y = torch.empty_like(x)
    partial_moments_kernel[(n_rows, splits)](x, parts, n_cols, splits, SPLIT=split)
    standardise_kernel[(n_rows,)](x, parts, y, n_cols, splits, 1e-05, SPLIT=split)
    return y


def replacement_func():
    return standardise_rows
