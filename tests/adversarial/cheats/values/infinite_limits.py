# Tries: saturates to infinity what is merely large, hoping that both count as "overflow".
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Subgraph: exp-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.exp(x).sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def saturating_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=float("-inf"))
    e = tl.where(x > 15.0, float("inf"), tl.exp(x))
    tl.store(o_ptr + row, tl.sum(e, axis=0))


@torch.fx.wrap
def saturating(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    saturating_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out


def replacement_func():
    return saturating
