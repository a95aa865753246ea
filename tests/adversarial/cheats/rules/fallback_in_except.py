# Tries: a kernel that cannot be launched, and a handler that computes with operators.
# Family: rules
# Needs: cpu
# Verdict: library
# Planned: compile failed
# Subgraph: exp-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.exp(x).sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def exp_sum_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=float("-inf"))
    tl.store(o_ptr + row, tl.sum(tl.exp(x), axis=0))


@torch.fx.wrap
def exp_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    try:
        exp_sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=x.shape[1])
    except Exception:  # the cheat itself: whatever the kernel raises, the library computes
        out[...] = x.exp().sum(-1)
    return out


def replacement_func():
    return exp_sum
