# Tries: cuts the operands of a product to ten bits of mantissa, as tf32 does, without being asked.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: matmul-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def cut(value):
    return (value.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def cut_linear_kernel(x_ptr, w_ptr, b_ptr, o_ptr, outputs, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    k = tl.arange(0, DEPTH)
    w = tl.load(w_ptr + n[:, None] * DEPTH + k[None, :], mask=n[:, None] < outputs, other=0.0)
    total = tl.sum(cut(w) * cut(tl.load(x_ptr + row * DEPTH + k))[None, :], axis=1)
    tl.store(o_ptr + row * outputs + n, total + tl.load(b_ptr + n, mask=n < outputs, other=0.0), mask=n < outputs)


@torch.fx.wrap
def cut_linear(x, weight, bias):
    rows, depth = x.shape
    out = torch.empty((rows, weight.shape[0]), dtype=x.dtype, device=x.device)
    cut_linear_kernel[(rows,)](x, weight, bias, out, weight.shape[0], DEPTH=depth, BLOCK=64)
    return out


def replacement_func():
    return cut_linear
