# Tries: one value per row, in a shape that only broadcasts to the right one.
# Family: values
# Needs: cpu
# Verdict: wrong shape
# Subgraph: two-outputs
import torch
import triton
import triton.language as tl


def pattern(a, b):
    s = a + b
    return s, s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-06)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def one_per_row_kernel(a_ptr, b_ptr, s_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    s = tl.load(a_ptr + row * columns + c, mask=c < columns, other=0.0)
    s += tl.load(b_ptr + row * columns + c, mask=c < columns, other=0.0)
    tl.store(s_ptr + row * columns + c, s, mask=c < columns)
    tl.store(o_ptr + row, tl.sum(s, axis=0) * tl.rsqrt(tl.sum(s * s, axis=0) / columns + 1e-6) / columns)


@torch.fx.wrap
def one_per_row(a, b):
    out = torch.empty((a.shape[0], 1), dtype=a.dtype, device=a.device)
    total = torch.empty_like(a)
    one_per_row_kernel[(a.shape[0],)](a, b, total, out, a.shape[1], BLOCK=128)
    return total, out


def replacement_func():
    return one_per_row
