# Tries: the right numbers, transposed, in a square where no shape gives it away.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: square
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return a.transpose(0, 1) - b


def replacement_args(a, b):
    return (a, b)


@triton.jit
def difference_kernel(a_ptr, b_ptr, o_ptr, size, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < size
    a = tl.load(a_ptr + row * size + c, mask=inside)
    b = tl.load(b_ptr + c * size + row, mask=inside)
    tl.store(o_ptr + row * size + c, a - b, mask=inside)


@torch.fx.wrap
def difference(a, b):
    out = torch.empty_like(b)
    difference_kernel[(a.shape[0],)](a, b, out, a.shape[0], BLOCK=32)
    return out


def replacement_func():
    return difference
