# Tries: a tensor without dimensions, which compares with everything.
# Family: values
# Needs: cpu
# Verdict: wrong shape
# Subgraph: leaky
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def mean_kernel(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(o_ptr, tl.sum(tl.where(x > 0, x, 0.2 * x), axis=0) / n)


@torch.fx.wrap
def scalar(x):
    out = torch.empty((), dtype=x.dtype, device=x.device)
    mean_kernel[(1,)](x, out, x.numel(), BLOCK=1024)
    return out


def replacement_func():
    return scalar
