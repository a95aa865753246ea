# Tries: counts in int32 where eager counts in int64: half of the bytes.
# Family: values
# Needs: cpu
# Verdict: wrong type
# Subgraph: max-share
import torch
import triton
import triton.language as tl


def pattern(x):
    return (x == x.amax(-1, keepdim=True)).sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def count_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=float("-inf"))
    tl.store(o_ptr + row, tl.sum((x == tl.max(x, axis=0)).to(tl.int32), axis=0))


@torch.fx.wrap
def count(x):
    out = torch.empty((x.shape[0],), dtype=torch.int32, device=x.device)
    count_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out


def replacement_func():
    return count
