"""Linear + QuickGELU with the activation fused into the GEMM epilogue."""

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    h = torch.nn.functional.linear(x, weight, bias)
    g = torch.sigmoid(1.702 * h)
    return h * g


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def quick_gelu(x):
    return x * tl.sigmoid(1.702 * x)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=3, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=3, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 32}, num_stages=4, num_warps=8),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def linear_act_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K,
    stride_xm, stride_xk, stride_wn, stride_wk, stride_ym, stride_yn,
    ACTIVATION: tl.constexpr, HAS_BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        kk = k + offs_k
        x = tl.load(
            x_ptr + offs_m[:, None] * stride_xm + kk[None, :] * stride_xk,
            mask=(offs_m[:, None] < M) & (kk[None, :] < K), other=0.0,
        )
        w = tl.load(
            w_ptr + kk[:, None] * stride_wk + offs_n[None, :] * stride_wn,
            mask=(kk[:, None] < K) & (offs_n[None, :] < N), other=0.0,
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if HAS_BIAS:
        acc += tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "quick_gelu":
        acc = quick_gelu(acc)
    tl.store(
        y_ptr + offs_m[:, None] * stride_ym + offs_n[None, :] * stride_yn,
        acc.to(y_ptr.dtype.element_ty), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
    )


@torch.fx.wrap
def linear_quick_gelu(x, weight, bias=None):
    x2 = x.contiguous().view(-1, x.shape[-1])
    M, K = x2.shape
    N = weight.shape[0]
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))
    linear_act_kernel[grid](
        x2, weight, bias, y, M, N, K,
        x2.stride(0), x2.stride(1), weight.stride(0), weight.stride(1), y.stride(0), y.stride(1),
        ACTIVATION="quick_gelu", HAS_BIAS=bias is not None,
    )
    return y.view(*x.shape[:-1], N)


def replacement_func():
    return linear_quick_gelu
