# Tries: no mask on its loads, since "there is always something": a row of 130 takes in 126 of the next.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Planned: wrong values | wrong NaN or infinity
# Subgraph: row-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def unmasked_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o_ptr + row, tl.sum(tl.load(x_ptr + row * columns + tl.arange(0, BLOCK)), axis=0))


@torch.fx.wrap
def unmasked(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    unmasked_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=256)
    return out


def replacement_func():
    return unmasked
