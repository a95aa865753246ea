import torch
import triton
import triton.language as tl


def pattern(weights, scale):
    denominator = weights.sum(dim=-1, keepdim=True)
    denominator = denominator + 1e-20
    weights /= denominator
    scaled = weights * scale
    return scaled.reshape(-1)


def replacement_args(weights, scale):
    return (weights, scale)


@triton.jit
def normalize_topk_kernel(w_ptr, out_ptr, n_rows, top_k, scale, ROWS: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, K)
    mask = (rows < n_rows)[:, None] & (k < top_k)[None, :]
    offs = rows[:, None] * top_k + k[None, :]
    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
    total = tl.sum(w, axis=1)[:, None] + 1e-20
    w = w / total
    tl.store(w_ptr + offs, w, mask=mask)
    tl.store(out_ptr + offs, w * scale, mask=mask)


@torch.fx.wrap
def normalize_topk(weights, scale):
    # the graph normalises `weights` in place, so the kernel writes to it as well
    assert weights.is_contiguous()
    top_k = weights.shape[-1]
    n_rows = weights.numel() // top_k
    out = torch.empty((weights.numel(),), dtype=weights.dtype, device=weights.device)
    normalize_topk_kernel[(triton.cdiv(n_rows, 64),)](
        weights, out, n_rows, top_k, scale, ROWS=64, K=triton.next_power_of_2(top_k)
    )
    return out


def replacement_func():
    return normalize_topk
