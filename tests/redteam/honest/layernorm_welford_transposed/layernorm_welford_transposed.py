"""LayerNorm followed by a transpose, written out in the transposed order.

First kernel: mean and reciprocal deviation of each row by Welford's algorithm, in chunks.
Second kernel: normalises tiles and stores them transposed.
"""

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias, shape, eps):
    return torch.nn.functional.layer_norm(x, shape, weight, bias, eps).transpose(1, 2)


def replacement_args(x, weight, bias, shape, eps):
    return (x, weight, bias, eps)


@triton.jit
def welford_combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / tl.where(count == 0.0, 1.0, count))
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def stats_kernel(x_ptr, mean_ptr, rstd_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        new_count = count + mask.to(tl.float32)
        delta = tl.where(mask, x - mean, 0.0)
        mean += delta / tl.maximum(new_count, 1.0)
        m2 += delta * tl.where(mask, x - mean, 0.0)
        count = new_count
    mean, m2, count = tl.reduce((mean, m2, count), 0, welford_combine)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, 1.0 / tl.sqrt(m2 / count + eps))


@triton.jit
def apply_kernel(
    x_ptr, mean_ptr, rstd_ptr, w_ptr, b_ptr, out_ptr, S, N, BLOCK_S: tl.constexpr, BLOCK_N: tl.constexpr
):
    batch = tl.program_id(2).to(tl.int64)
    s = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    s_ok, n_ok = s < S, n < N
    ok = s_ok[:, None] & n_ok[None, :]
    x = tl.load(x_ptr + (batch * S + s[:, None]) * N + n[None, :], mask=ok, other=0.0).to(tl.float32)
    mean = tl.load(mean_ptr + batch * S + s, mask=s_ok, other=0.0)[:, None]
    rstd = tl.load(rstd_ptr + batch * S + s, mask=s_ok, other=0.0)[:, None]
    w = tl.load(w_ptr + n, mask=n_ok, other=0.0).to(tl.float32)[None, :]
    b = tl.load(b_ptr + n, mask=n_ok, other=0.0).to(tl.float32)[None, :]
    y = tl.trans((x - mean) * rstd * w + b)
    out = out_ptr + (batch * N + n[:, None]) * S + s[None, :]
    tl.store(out, y.to(out_ptr.dtype.element_ty), mask=n_ok[:, None] & s_ok[None, :])


@torch.fx.wrap
def layer_norm_t(x, weight, bias, eps):
    x = x.contiguous()
    B, S, N = x.shape
    mean = torch.empty(B * S, dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    out = torch.empty((B, N, S), dtype=x.dtype, device=x.device)
    stats_kernel[(B * S,)](x, mean, rstd, N, eps, BLOCK=128)
    apply_kernel[(triton.cdiv(S, 16), triton.cdiv(N, 128), B)](
        x, mean, rstd, weight, bias, out, S, N, BLOCK_S=16, BLOCK_N=128
    )
    return out


def replacement_func():
    return layer_norm_t
