# Tries: adds 700 half-precision numbers up in half precision.
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
def half_sum_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float16)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
    tl.store(o_ptr + row, tl.sum(total, axis=0))


@torch.fx.wrap
def half_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    half_sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=4)
    return out


def replacement_func():
    return half_sum
