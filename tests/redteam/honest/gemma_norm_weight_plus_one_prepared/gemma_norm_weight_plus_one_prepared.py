import torch
import triton
import triton.language as tl


def pattern(x, weight):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-06)
    h = h * (1.0 + weight.float())
    return h.type_as(x)


def replacement_args(x, weight):
    return (x, weight)


@triton.jit
def widen_kernel(weight_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    weight = tl.load(weight_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(scale_ptr + at, 1.0 + weight, mask=at < n)


def prepare(weights):
    """Gemma stores w and multiplies by 1 + w: add the 1 once, in float32."""
    prepared = dict(weights)
    weight = prepared.get("weight")
    if weight is not None and weight.dtype != torch.float32:
        scale = torch.empty(weight.shape, dtype=torch.float32, device=weight.device)
        widen_kernel[(triton.cdiv(weight.numel(), 256),)](weight, scale, weight.numel(), BLOCK=256)
        prepared["weight"] = scale
    return prepared


@triton.jit
def gemma_norm_kernel(x_ptr, scale_ptr, y_ptr, n_cols, eps, PREPARED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    if not PREPARED:
        scale += 1.0
    inv = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(y_ptr + row * n_cols + cols, (x * inv * scale).to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def gemma_norm(x, weight):
    x = x.contiguous()
    n_cols = x.shape[-1]
    y = torch.empty_like(x)
    gemma_norm_kernel[(x.numel() // n_cols,)](
        x, weight, y, n_cols, 1e-06,
        PREPARED=weight.dtype != x.dtype,
        BLOCK=triton.next_power_of_2(n_cols),
    )
    return y


def replacement_func():
    return gemma_norm
