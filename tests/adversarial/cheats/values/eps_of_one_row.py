# Tries: LayerNorm of a single row in float16 with the usual eps of 1e-5 where 1e-12 was asked for, ten million times
#   less.
# Family: values
# Needs: cpu
# Verdict: wrong values | lower precision
# Subgraph: layernorm-one-row-half

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-12)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def one_row_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    x = tl.load(x_ptr + column).to(tl.float32)
    away = x - tl.sum(x, axis=0) / SIZE
    scale = 1.0 / tl.sqrt(tl.sum(away * away, axis=0) / SIZE + 1e-05)
    y = away * scale * tl.load(weight_ptr + column) + tl.load(bias_ptr + column)
    tl.store(out_ptr + column, y.to(tl.float16))


@torch.fx.wrap
def layer_norm(x, weight, bias):
    out = torch.empty_like(x)
    one_row_kernel[(1,)](x, weight, bias, out, SIZE=64)
    return out


def replacement_func():
    return layer_norm
