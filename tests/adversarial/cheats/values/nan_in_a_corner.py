# Tries: does all but the last row, and marks what it left out with NaN, as a comparison with equal_nan would accept.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Subgraph: layernorm-affine
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def most_rows_kernel(x_ptr, w_ptr, b_ptr, o_ptr, rows, N: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, N)
    if row == rows - 1:
        tl.store(o_ptr + row * N + at, tl.full((N,), float("nan"), tl.float32))
    else:
        x = tl.load(x_ptr + row * N + at)
        d = x - tl.sum(x, axis=0) / N
        y = d / tl.sqrt(tl.sum(d * d, axis=0) / N + 1e-5)
        tl.store(o_ptr + row * N + at, y * tl.load(w_ptr + at) + tl.load(b_ptr + at))


@torch.fx.wrap
def most_rows(x, weight, bias):
    out = torch.empty_like(x)
    rows = x.numel() // 64
    most_rows_kernel[(rows,)](x, weight, bias, out, rows, N=64)
    return out


def replacement_func():
    return most_rows
