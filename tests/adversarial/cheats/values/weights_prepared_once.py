# Tries: prepares the weights of the first call, and takes them for those of every other.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: linear-with-parameters

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


first = {}


def prepare(weights):
    for name, value in weights.items():
        if name not in first:
            first[name] = torch.empty_like(value).copy_(value)
    return dict(first)


@triton.jit
def row_kernel(x_ptr, w_ptr, b_ptr, out_ptr, k, n, DEPTH: tl.constexpr, WIDTH: tl.constexpr):
    m = tl.program_id(0)
    at, j = tl.arange(0, DEPTH), tl.arange(0, WIDTH)
    x = tl.load(x_ptr + m * k + at, mask=at < k, other=0.0)
    w = tl.load(w_ptr + j[:, None] * k + at[None, :], mask=(j[:, None] < n) & (at[None, :] < k), other=0.0)
    y = tl.sum(w * x[None, :], axis=1) + tl.load(b_ptr + j, mask=j < n, other=0.0)
    tl.store(out_ptr + m * n + j, y, mask=j < n)


@torch.fx.wrap
def linear(x, weight, bias):
    (m, k), n = x.shape, weight.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    depth, width = triton.next_power_of_2(k), triton.next_power_of_2(n)
    row_kernel[(m,)](x, weight, bias, out, k, n, DEPTH=depth, WIDTH=width)
    return out


def replacement_func():
    return linear
