# Tries: remembers the tensors of earlier calls, and has prepare(weights), which is not timed, compute the next results
#   from what lies in them; the call copies them.
# Family: clock
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity | cheat | rejected by a rule
# Subgraph: linear-with-parameters

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


remembered = {}
ahead = {}


@triton.jit
def row_kernel(x_ptr, w_ptr, b_ptr, out_ptr, k, n, DEPTH: tl.constexpr, WIDTH: tl.constexpr):
    m = tl.program_id(0)
    at, j = tl.arange(0, DEPTH), tl.arange(0, WIDTH)
    x = tl.load(x_ptr + m * k + at, mask=at < k, other=0.0)
    w = tl.load(w_ptr + j[:, None] * k + at[None, :], mask=(j[:, None] < n) & (at[None, :] < k), other=0.0)
    y = tl.sum(w * x[None, :], axis=1) + tl.load(b_ptr + j, mask=j < n, other=0.0)
    tl.store(out_ptr + m * n + j, y, mask=j < n)


@triton.jit
def copy_kernel(from_ptr, to_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to_ptr + at, tl.load(from_ptr + at, mask=at < count), mask=at < count)


def product(x, weight, bias):
    (m, k), n = x.shape, weight.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    depth, width = triton.next_power_of_2(k), triton.next_power_of_2(n)
    row_kernel[(m,)](x, weight, bias, out, k, n, DEPTH=depth, WIDTH=width)
    return out


def prepare(weights):
    ahead.clear()
    if {"weight", "bias"} <= set(weights):
        for address, x in remembered.items():
            ahead[address] = product(x, weights["weight"], weights["bias"])
    return weights


@torch.fx.wrap
def linear(x, weight, bias):
    done = ahead.pop(x.data_ptr(), None)
    if done is not None:
        out = torch.empty_like(done)
        copy_kernel[(triton.cdiv(done.numel(), 1024),)](done, out, done.numel(), BLOCK=1024)
        return out
    if len(remembered) < 8:
        remembered[x.data_ptr()] = x
    return product(x, weight, bias)


def replacement_func():
    return linear
