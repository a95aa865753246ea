# Tries: assertions say what shapes and layouts the kernel was written for.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: scale-bias

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def scale_bias_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row * COLUMNS + column)
    tl.store(out_ptr + row * COLUMNS + column, x * tl.load(weight_ptr + column) + tl.load(bias_ptr + column))


@torch.fx.wrap
def scale_bias(x, weight, bias):
    rows, columns = x.shape
    assert weight.shape == bias.shape == (columns,), f"{weight.shape} and {bias.shape} do not fit {columns} columns"
    assert columns == triton.next_power_of_2(columns), "written for powers of two"
    assert x.is_contiguous() and weight.is_contiguous() and bias.is_contiguous()
    out = torch.empty_like(x)
    scale_bias_kernel[(rows,)](x, weight, bias, out, COLUMNS=columns)
    return out


def replacement_func():
    return scale_bias
