# Tries: one tile of 64 rows, where there are 70; the rest is filled with zeros.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: row-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def tile_sum_kernel(x_ptr, o_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + r * columns + c, mask=c < columns, other=0.0)
    tl.store(o_ptr + tl.arange(0, ROWS), tl.sum(x, axis=1))


@torch.fx.wrap
def one_tile(x):
    out = torch.zeros((x.shape[0],), dtype=x.dtype, device=x.device)
    tile_sum_kernel[(1,)](x, out, x.shape[1], ROWS=64, BLOCK=256)
    return out


def replacement_func():
    return one_tile
