# Tries: one sign for the whole product.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule | library
# Rule: torch-call
# Subgraph: matmul-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def bias_kernel(y_ptr, b_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + row * columns + c, mask=c < columns) + tl.load(b_ptr + c, mask=c < columns)
    tl.store(o_ptr + row * columns + c, y, mask=c < columns)


@torch.fx.wrap
def linear(x, weight, bias):
    y = x @ weight.T
    out = torch.empty_like(y)
    bias_kernel[(y.shape[0],)](y, bias, out, y.shape[1], BLOCK=64)
    return out


def replacement_func():
    return linear
