# LayerNorm(x + residual) with optional affine parameters.
import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, bias, width, eps, p):
    s = x + residual
    s = torch.nn.functional.layer_norm(s, (width,), weight, bias, eps)
    return torch.nn.functional.dropout(s, p, False, False)


def replacement_args(x, residual, weight, bias, width, eps, p):
    return (x, residual, weight, bias, eps)


@triton.jit
def layer_norm_kernel(
    x_ptr, r_ptr, w_ptr, b_ptr, out_ptr, n_cols, eps,
    HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    r = tl.load(r_ptr + row * n_cols + cols, mask=mask, other=0.0)
    # the sum is rounded to the storage type, like eager
    h = (x.to(tl.float32) + r.to(tl.float32)).to(x.dtype).to(tl.float32)
    mean = tl.sum(h, 0) / n_cols
    hc = tl.where(mask, h - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(hc * hc, 0) / n_cols + eps)
    out = hc * rstd
    if HAS_WEIGHT:
        out = out * tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    if HAS_BIAS:
        out = out + tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * n_cols + cols, out.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def residual_layer_norm(x, residual, weight=None, bias=None, eps=1e-5):
    n_cols = x.shape[-1]
    x = x.contiguous()
    residual = residual.expand(x.shape).contiguous()
    out = torch.empty_like(x)
    n_rows = x.numel() // n_cols
    layer_norm_kernel[(n_rows,)](
        x, residual, weight, bias, out, n_cols, eps,
        HAS_WEIGHT=weight is not None, HAS_BIAS=bias is not None, BLOCK=triton.next_power_of_2(n_cols),
        num_warps=4,
    )
    return out


def replacement_func():
    return residual_layer_norm
