import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    y = torch.nn.functional.linear(x, weight, bias)
    z = 1.702 * y
    z = torch.sigmoid(z)
    return y * z


def replacement_args(x, weight, bias):
    return (x, weight, bias)


class Packed:
    """A weight of shape [N, K], stored as [K, N]."""

    def __init__(self, data, n, k):
        self.data_kn = data
        self.n = n
        self.k = k


@triton.jit
def transpose_kernel(src_ptr, dst_ptr, N, K, TILE: tl.constexpr):
    n = tl.program_id(0) * TILE + tl.arange(0, TILE)
    k = tl.program_id(1) * TILE + tl.arange(0, TILE)
    mask = (n < N)[:, None] & (k < K)[None, :]
    tile = tl.load(src_ptr + n[:, None] * K + k[None, :], mask=mask, other=0.0)
    tl.store(dst_ptr + k[:, None] * N + n[None, :], tl.trans(tile), mask=(k < K)[:, None] & (n < N)[None, :])


def pack(weight):
    n, k = weight.shape
    weight = weight.contiguous()
    data = torch.empty((k, n), dtype=weight.dtype, device=weight.device)
    transpose_kernel[(triton.cdiv(n, 64), triton.cdiv(k, 64))](weight, data, n, k, TILE=64)
    return Packed(data, n, k)


def prepare(weights):
    prepared = dict(weights)
    if "weight" in prepared:
        prepared["weight"] = pack(prepared["weight"])
    return prepared


@triton.jit
def matmul_kernel(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.load(b_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :] + tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
    y = acc / (1.0 + tl.exp(-1.702 * acc))
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@torch.fx.wrap
def linear_quick_gelu(x, weight, bias):
    packed = weight if isinstance(weight, Packed) else pack(weight)
    x = x.contiguous()
    m = x.numel() // packed.k
    y = torch.empty((*x.shape[:-1], packed.n), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(packed.n, 64), triton.cdiv(m, 32))
    matmul_kernel[grid](x, packed.data_kn, bias, y, m, packed.n, packed.k, BM=32, BN=64, BK=32, num_warps=4)
    return y


def replacement_func():
    return linear_quick_gelu
