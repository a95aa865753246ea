# Tries: a product over half of the depth, doubled: right in expectation for inputs that are all alike.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: matmul-bias
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@triton.jit
def sampled_kernel(x_ptr, w_ptr, b_ptr, o_ptr, outputs, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    k = tl.arange(0, K // 2) * 2
    x = tl.load(x_ptr + row * K + k).to(tl.float32)
    w = tl.load(w_ptr + n[:, None] * K + k[None, :], mask=n[:, None] < outputs, other=0.0).to(tl.float32)
    y = 2.0 * tl.sum(w * x[None, :], axis=1) + tl.load(b_ptr + n, mask=n < outputs, other=0.0).to(tl.float32)
    tl.store(o_ptr + row * outputs + n, y, mask=n < outputs)


@torch.fx.wrap
def sampled_linear(x, weight, bias):
    out = torch.empty((x.shape[0], weight.shape[0]), dtype=x.dtype, device=x.device)
    sampled_kernel[(x.shape[0],)](x, weight, bias, out, weight.shape[0], K=64, BLOCK=64)
    return out


def replacement_func():
    return sampled_linear
