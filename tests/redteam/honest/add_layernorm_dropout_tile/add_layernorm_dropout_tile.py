import torch
import triton
import triton.language as tl


def pattern(x, y, weight, bias):
    added = x + y
    normed = torch.nn.functional.layer_norm(added, (128,), weight, bias, 1e-12)
    # dropout is the identity at inference time
    return torch.nn.functional.dropout(normed, 0.1, False, False)


def replacement_args(x, y, weight, bias):
    return (x, y, weight, bias)


def _configs():
    return [
        triton.Config({"BLOCK_M": block_m}, num_warps=warps, num_stages=1)
        for block_m in (1, 2, 4, 8, 16)
        for warps in (2, 4)
    ]


def _prune(configs, named_args, **kwargs):
    """Drop configurations with more rows per program than there are rows."""
    rows = named_args["M"]
    kept = [config for config in configs if config.kwargs["BLOCK_M"] <= max(rows, 1)]
    return kept or configs[:1]


@triton.autotune(configs=_configs(), key=["M", "N"], prune_configs_by={"early_config_prune": _prune})
@triton.jit
def add_ln_kernel(x_ptr, y_ptr, w_ptr, b_ptr, out_ptr, M, N, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    col_mask = cols < N
    mask = (rows < M)[:, None] & col_mask[None, :]
    offsets = rows[:, None] * N + cols[None, :]
    h = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    h += tl.load(y_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(h, axis=1) / N
    centered = tl.where(mask, h - mean[:, None], 0.0)
    var = tl.sum(centered * centered, axis=1) / N
    inv = 1.0 / tl.sqrt(var + eps)
    w = tl.load(w_ptr + cols, mask=col_mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=col_mask, other=0.0).to(tl.float32)
    out = centered * inv[:, None] * w[None, :] + b[None, :]
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def add_layernorm(x, y, weight, bias):
    n = x.shape[-1]
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    m = x.numel() // n
    add_ln_kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]),)](
        x, y, weight, bias, out, m, n, 1e-12, BLOCK_N=triton.next_power_of_2(n)
    )
    return out


def replacement_func():
    return add_layernorm
