"""Kernels shared by the passes of this bundle."""

import torch
import triton
import triton.language as tl


@triton.jit
def _matmul_kernel(
    x_ptr, w_ptr, b_ptr, r_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    x_bp = tl.make_block_ptr(x_ptr, (M, K), (K, 1), (m0, 0), (BM, BK), (1, 0))
    # the weight is [N, K]; reading it with swapped strides gives its transpose
    w_bp = tl.make_block_ptr(w_ptr, (K, N), (1, K), (0, n0), (BK, BN), (0, 1))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        x = tl.load(x_bp, boundary_check=(0, 1), padding_option="zero")
        w = tl.load(w_bp, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(x, w, input_precision="ieee")
        x_bp = tl.advance(x_bp, (0, BK))
        w_bp = tl.advance(w_bp, (BK, 0))
    n = n0 + tl.arange(0, BN)
    acc += tl.load(b_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    r_bp = tl.make_block_ptr(r_ptr, (M, N), (N, 1), (m0, n0), (BM, BN), (1, 0))
    acc += tl.load(r_bp, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    y_bp = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (m0, n0), (BM, BN), (1, 0))
    tl.store(y_bp, acc.to(y_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _ln_kernel(x_ptr, g_ptr, b_ptr, y_ptr, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < M) & (c < N)
    x = tl.load(x_ptr + r * N + c, mask=mask, other=0.0).to(tl.float32)
    mu = tl.sum(x, axis=1, keep_dims=True) / N
    d = tl.where(mask, x - mu, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=1, keep_dims=True) / N + eps)
    g = tl.load(g_ptr + c, mask=c < N, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + r * N + c, (d * rstd * g + b).to(y_ptr.dtype.element_ty), mask=mask)


def matmul_bias_residual(x, w, b, residual):
    x, w, residual = x.contiguous(), w.contiguous(), residual.contiguous()
    n, k = w.shape
    m = x.numel() // k
    y = torch.empty_like(residual)
    _matmul_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, w, b, residual, y, m, n, k, BM=64, BN=64, BK=32)
    return y


def layer_norm_rows(x, gamma, beta, eps):
    n = x.shape[-1]
    m = x.numel() // n
    y = torch.empty_like(x)
    _ln_kernel[(triton.cdiv(m, 4),)](x, gamma, beta, y, m, n, eps, ROWS=4, BLOCK=triton.next_power_of_2(n))
    return y
