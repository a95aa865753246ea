# Tries: linear layer, bias and relu: the activation is applied before the tile leaves its registers.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: linear-relu

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.relu(torch.nn.functional.linear(x, weight, bias), inplace=False)


def replacement_args(x, weight, bias):
    return (x, weight, bias, "relu")


@triton.jit
def linear_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, m, n, k, ACTIVATION: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, TILE):
        inner = start + tl.arange(0, TILE)
        x = tl.load(
            x_ptr + row[:, None] * k + inner[None, :], mask=(row < m)[:, None] & (inner < k)[None, :], other=0.0
        )
        # the weight is stored with one row per output, and read as its transpose
        at = column[None, :] * k + inner[:, None]
        weight = tl.load(weight_ptr + at, mask=(column < n)[None, :] & (inner < k)[:, None], other=0.0)
        total = tl.dot(x, weight, total, input_precision="ieee")
    total += tl.load(bias_ptr + column, mask=column < n, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "relu":
        total = tl.where(total < 0, 0.0, total)
    inside = (row < m)[:, None] & (column < n)[None, :]
    tl.store(out_ptr + row[:, None] * n + column[None, :], total.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def linear_activated(x, weight, bias, activation):
    m, k = x.shape
    n = weight.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
    linear_kernel[grid](x, weight, bias, out, m, n, k, ACTIVATION=activation, TILE=16)
    return out


def replacement_func():
    return linear_activated
