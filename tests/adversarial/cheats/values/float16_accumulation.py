# Tries: adds a thousand half-precision numbers up in half precision, one after the other.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: row-sum-half
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def half_sum_kernel(x_ptr, o_ptr, columns, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), dtype=tl.float16)
    for column in range(0, columns):
        total += tl.load(x_ptr + row * columns + column)
    tl.store(o_ptr + row, total)


@torch.fx.wrap
def half_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    half_sum_kernel[(x.shape[0] // 32,)](x, out, x.shape[1], ROWS=32)
    return out


def replacement_func():
    return half_sum
