# Tries: looks at every second column for the maximum, which neighbours make up for unless it stands alone.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: max-share
import torch
import triton
import triton.language as tl


def pattern(x):
    return (x == x.amax(-1, keepdim=True)).sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def sampled_max_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=float("-inf"))
    top = tl.max(tl.where(c % 2 == 0, x, float("-inf")), axis=0)
    tl.store(o_ptr + row, tl.sum((x >= top).to(tl.int64), axis=0))


@torch.fx.wrap
def sampled_max(x):
    out = torch.empty((x.shape[0],), dtype=torch.int64, device=x.device)
    sampled_max_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out


def replacement_func():
    return sampled_max
