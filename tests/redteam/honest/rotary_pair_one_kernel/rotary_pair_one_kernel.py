import torch
import triton
import triton.language as tl


def pattern(sin, rot_q, q_cos, rot_k, k_cos):
    s = sin.to(dtype=torch.bfloat16)
    s = s.unsqueeze(1)
    q = rot_q * s
    q = q + q_cos
    k = rot_k * s
    k = k + k_cos
    return q, k


def replacement_args(sin, rot_q, q_cos, rot_k, k_cos):
    return (sin, rot_q, q_cos, rot_k, k_cos)


@triton.jit
def rope_qk_kernel(
    sin_ptr, rq_ptr, qc_ptr, rk_ptr, kc_ptr, q_out_ptr, k_out_ptr,
    H, S, D, sin_b, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(2)
    h = tl.program_id(1)
    s = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S)[:, None]
    d = tl.arange(0, BLOCK_D)[None, :]
    mask = (s < S) & (d < D)
    offs = ((b * H + h) * S + s) * D + d
    sin = tl.load(sin_ptr + b * sin_b + s * D + d, mask=mask, other=0.0)
    sin = sin.to(q_out_ptr.dtype.element_ty).to(tl.float32)
    rq = tl.load(rq_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    qc = tl.load(qc_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(q_out_ptr + offs, (rq * sin + qc).to(q_out_ptr.dtype.element_ty), mask=mask)
    rk = tl.load(rk_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    kc = tl.load(kc_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(k_out_ptr + offs, (rk * sin + kc).to(k_out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def rope_qk(sin, rot_q, q_cos, rot_k, k_cos):
    assert rot_q.shape == rot_k.shape, "queries and keys need the same number of heads"
    B, H, S, D = rot_q.shape
    sin = sin.contiguous()
    rot_q, q_cos, rot_k, k_cos = (t.contiguous() for t in (rot_q, q_cos, rot_k, k_cos))
    q_out = torch.empty_like(rot_q)
    k_out = torch.empty_like(rot_k)
    BLOCK_S = 32
    rope_qk_kernel[(triton.cdiv(S, BLOCK_S), H, B)](
        sin, rot_q, q_cos, rot_k, k_cos, q_out, k_out,
        H, S, D, S * D if sin.shape[0] > 1 else 0,
        BLOCK_S=BLOCK_S, BLOCK_D=triton.next_power_of_2(D), num_warps=2,
    )
    return q_out, k_out


def replacement_func():
    return rope_qk
