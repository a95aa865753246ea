# Tries: a float32 linear layer whose operands are cut to float16 for the faster units.
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
def tile_kernel(x_ptr, w_ptr, b_ptr, o_ptr, outputs, ROWS: tl.constexpr, COLS: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, ROWS)[:, None]
    n = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    k = tl.arange(0, K)
    x = tl.load(x_ptr + m * K + k[None, :]).to(tl.float16)
    w = tl.load(w_ptr + n * K + k[:, None], mask=n < outputs, other=0.0).to(tl.float16)
    y = tl.dot(x, w) + tl.load(b_ptr + n, mask=n < outputs, other=0.0)
    tl.store(o_ptr + m * outputs + n, y, mask=n < outputs)


@torch.fx.wrap
def half_linear(x, weight, bias):
    outputs = weight.shape[0]
    out = torch.empty((x.shape[0], outputs), dtype=x.dtype, device=x.device)
    tile_kernel[(triton.cdiv(outputs, 16),)](x, weight, bias, out, outputs, ROWS=16, COLS=16, K=64)
    return out


def replacement_func():
    return half_linear
