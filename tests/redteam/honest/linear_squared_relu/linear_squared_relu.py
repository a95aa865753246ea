import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    h = torch.nn.functional.linear(x, weight, bias)
    return torch.square(torch.nn.functional.relu(h))


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.autotune(
    configs=[
        triton.Config({"BM": 16, "BN": 32, "BK": 16}, num_warps=2, num_stages=2),
        triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=4, num_stages=2),
        triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, sxm, sxk, swn, swk,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    m = (pid // tiles_n) * BM + tl.arange(0, BM)
    n = (pid % tiles_n) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(x_ptr + m[:, None] * sxm + k[None, :] * sxk, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(w_ptr + n[None, :] * swn + k[:, None] * swk, mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(a, b, acc)
    acc += tl.load(b_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    h = acc.to(y_ptr.dtype.element_ty).to(tl.float32)
    h = tl.where(h < 0, 0.0, h)                  # keeps NaN
    out = (h * h).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + m[:, None] * N + n[None, :], out, mask=(m[:, None] < M) & (n[None, :] < N))


@torch.fx.wrap
def linear_squared_relu(x, weight, bias):
    M, K = x.shape
    N = weight.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
    linear_kernel[grid](
        x, weight, bias, y, M, N, K, x.stride(0), x.stride(1), weight.stride(0), weight.stride(1)
    )
    return y


def replacement_func():
    return linear_squared_relu
