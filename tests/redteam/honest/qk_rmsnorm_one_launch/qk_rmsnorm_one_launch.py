# Qwen3-style q_norm and k_norm, both in one launch.
import torch
import triton
import triton.language as tl


def pattern(q, k, wq, wk):
    q32 = q.to(torch.float32)
    q_rstd = torch.rsqrt(q32.pow(2).mean(-1, keepdim=True) + 1e-06)
    q_out = wq * (q32 * q_rstd).to(torch.bfloat16)
    k32 = k.to(torch.float32)
    k_rstd = torch.rsqrt(k32.pow(2).mean(-1, keepdim=True) + 1e-06)
    k_out = wk * (k32 * k_rstd).to(torch.bfloat16)
    return q_out, k_out


def replacement_args(q, k, wq, wk):
    return (q, k, wq, wk)


@triton.jit
def norm_row(x_ptr, w_ptr, y_ptr, row, dim, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < dim
    x = tl.load(x_ptr + row * dim + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / dim + eps)
    normed = (x * rstd).to(tl.bfloat16).to(tl.float32)
    tl.store(y_ptr + row * dim + cols, (w * normed).to(tl.bfloat16), mask=mask)


@triton.jit
def qk_norm_kernel(q_ptr, k_ptr, wq_ptr, wk_ptr, q_out_ptr, k_out_ptr, q_rows, dim, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid < q_rows:
        norm_row(q_ptr, wq_ptr, q_out_ptr, pid, dim, eps, BLOCK)
    else:
        norm_row(k_ptr, wk_ptr, k_out_ptr, pid - q_rows, dim, eps, BLOCK)


@torch.fx.wrap
def qk_norm(q, k, wq, wk):
    q = q.contiguous()
    k = k.contiguous()
    dim = q.shape[-1]
    q_rows = q.numel() // dim
    k_rows = k.numel() // dim
    q_out = torch.empty_like(q)
    k_out = torch.empty_like(k)
    qk_norm_kernel[(q_rows + k_rows,)](
        q, k, wq, wk, q_out, k_out, q_rows, dim, 1e-06, BLOCK=triton.next_power_of_2(dim), num_warps=1
    )
    return q_out, k_out


def replacement_func():
    return qk_norm
