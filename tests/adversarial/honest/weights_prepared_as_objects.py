# Tries: prepares weights as something else than tensors, which only its own replacement understands.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: linear-with-parameters

from dataclasses import dataclass

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@dataclass(frozen=True)
class Laid:
    values: object
    outputs: int
    row: int
    column: int


def prepare(weights):
    prepared = dict(weights)
    if "weight" in weights:
        turned = weights["weight"].t().contiguous()
        prepared["weight"] = Laid(turned, turned.shape[1], turned.stride(1), turned.stride(0))
    return prepared


@triton.jit
def product_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, k, n, row, column, DEPTH: tl.constexpr, WIDTH: tl.constexpr):
    m = tl.program_id(0)
    at, j = tl.arange(0, DEPTH)[:, None], tl.arange(0, WIDTH)
    inside = (at < k) & (j[None, :] < n)
    x = tl.load(x_ptr + m * k + at, mask=at < k, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + j[None, :] * row + at * column, mask=inside, other=0.0).to(tl.float32)
    y = tl.sum(x * weight, axis=0) + tl.load(bias_ptr + j, mask=j < n, other=0.0)
    tl.store(out_ptr + m * n + j, y, mask=j < n)


@torch.fx.wrap
def linear(x, laid, bias):
    m, k = x.shape
    out = torch.empty((m, laid.outputs), dtype=x.dtype, device=x.device)
    depth, width = triton.next_power_of_2(k), triton.next_power_of_2(laid.outputs)
    product_kernel[(m,)](
        x, laid.values, bias, out, k, laid.outputs, laid.row, laid.column, DEPTH=depth, WIDTH=width
    )
    return out


def replacement_func():
    return linear
