import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, bias):
    hidden = x + residual
    return torch.nn.functional.layer_norm(hidden, (768,), weight, bias, 1e-07)


def replacement_args(x, residual, weight, bias):
    return (x, residual, weight, bias)


@triton.jit
def _add_layer_norm_fwd(
    X, R, W, B, Y,
    stride_x, stride_r, stride_y,
    N, eps,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    x = tl.load(X + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(R + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
    h = x + r
    mean = tl.sum(h, axis=0) / N
    diff = tl.where(mask, h - mean, 0.0)
    var = tl.sum(diff * diff, axis=0) / N
    rstd = 1.0 / tl.sqrt(var + eps)
    w = tl.load(W + cols, mask=mask, other=1.0).to(tl.float32)
    b = tl.load(B + cols, mask=mask, other=0.0).to(tl.float32)
    y = diff * rstd * w + b
    tl.store(Y + row * stride_y + cols, y.to(Y.dtype.element_ty), mask=mask)


@torch.fx.wrap
def add_layer_norm(x, residual, weight, bias):
    assert x.is_cuda, "x must be on the GPU"
    assert x.shape == residual.shape
    N = x.shape[-1]
    x2 = x.contiguous().view(-1, N)
    r2 = residual.contiguous().view(-1, N)
    y = torch.empty_like(x2)
    M = x2.shape[0]
    BLOCK_N = triton.next_power_of_2(N)
    num_warps = min(max(BLOCK_N // 256, 1), 8)
    with torch.cuda.device(x.device):
        _add_layer_norm_fwd[(M,)](
            x2, r2, weight, bias, y,
            x2.stride(0), r2.stride(0), y.stride(0),
            N, 1e-07,
            BLOCK_N=BLOCK_N, num_warps=num_warps,
        )
    return y.view(x.shape)


def replacement_func():
    return add_layer_norm
