import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    y = torch.nn.functional.layer_norm(x, (1024,), weight, bias, 1e-05)
    return y.transpose(1, 2)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def layernorm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    n_cols: tl.constexpr,
    eps: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    xm = tl.where(mask, x - mean, 0.0)
    var = tl.sum(xm * xm, axis=0) / n_cols
    y = xm * tl.rsqrt(var + eps)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, (y * weight + bias).to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def layernorm_transpose(x, weight, bias):
    x = x.contiguous()
    y = torch.empty_like(x)
    n_cols = x.shape[-1]
    n_rows = x.numel() // n_cols
    layernorm_kernel[(n_rows,)](
        x, weight, bias, y, n_cols, 1e-05, BLOCK=triton.next_power_of_2(n_cols), num_warps=4, num_stages=1
    )
    # a view, exactly what eager returns
    return y.transpose(1, 2)


def replacement_func():
    return layernorm_transpose
