# Tries: variance by Welford's method: blocks are merged by their counts, means and squared deviations.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: row-var

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.var(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def variance_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    count, mean, squares = 0.0, 0.0, 0.0
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
        own = tl.sum(inside.to(tl.float32))
        own_mean = tl.sum(x) / own
        deviation = tl.where(inside, x - own_mean, 0.0)
        difference = own_mean - mean
        total = count + own
        mean += difference * own / total
        squares += tl.sum(deviation * deviation) + difference * difference * count * own / total
        count = total
    tl.store(out_ptr + row, squares / (columns - 1))


@torch.fx.wrap
def variance(x):
    out = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    variance_kernel[(out.numel(),)](x, out, x.shape[-1], BLOCK=16)
    return out


def replacement_func():
    return variance
