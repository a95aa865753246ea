import torch
import triton
import triton.language as tl


def pattern(x, w, b, residual, gamma, beta):
    h = torch.nn.functional.linear(x, w, b)
    h = torch.nn.functional.dropout(h, p=0.1, training=False)
    s = residual + h
    n = torch.nn.functional.layer_norm(s, (256,), gamma, beta, 1e-05)
    return s, n


def replacement_args(x, w, b, residual, gamma, beta):
    return (x, w, b, residual, gamma, beta)


@triton.jit
def linear_add_ln_kernel(
    x_ptr, w_ptr, b_ptr, res_ptr, gamma_ptr, beta_ptr, sum_ptr, out_ptr,
    M, N, K, eps,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, BLOCK_N)
    n_mask = rn < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        rk = k0 + tl.arange(0, BLOCK_K)
        a = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm < M)[:, None] & (rk < K)[None, :], other=0.0)
        w = tl.load(w_ptr + rn[None, :] * K + rk[:, None], mask=n_mask[None, :] & (rk < K)[:, None], other=0.0)
        acc = tl.dot(a, w, acc, input_precision="ieee")
    mask = (rm < M)[:, None] & n_mask[None, :]
    offs = rm[:, None] * N + rn[None, :]
    acc += tl.load(b_ptr + rn, mask=n_mask, other=0.0).to(tl.float32)[None, :]
    s = acc + tl.load(res_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(sum_ptr + offs, s.to(sum_ptr.dtype.element_ty), mask=mask)
    s = tl.where(n_mask[None, :], s, 0.0)
    mean = tl.sum(s, axis=1)[:, None] / N
    d = tl.where(n_mask[None, :], s - mean, 0.0)
    var = tl.sum(d * d, axis=1)[:, None] / N
    y = d * (1.0 / tl.sqrt(var + eps))
    y = y * tl.load(gamma_ptr + rn, mask=n_mask, other=0.0).to(tl.float32)[None, :]
    y = y + tl.load(beta_ptr + rn, mask=n_mask, other=0.0).to(tl.float32)[None, :]
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def linear_add_layer_norm(x, w, b, residual, gamma, beta):
    x, w, residual = x.contiguous(), w.contiguous(), residual.contiguous()
    N, K = w.shape
    M = x.numel() // K
    summed = torch.empty_like(residual)
    out = torch.empty_like(residual)
    BLOCK_M = 16
    linear_add_ln_kernel[(triton.cdiv(M, BLOCK_M),)](
        x, w, b, residual, gamma, beta, summed, out, M, N, K, 1e-05,
        BLOCK_M=BLOCK_M, BLOCK_N=triton.next_power_of_2(N), BLOCK_K=32, num_warps=8,
    )
    return summed, out


def replacement_func():
    return linear_add_layer_norm
