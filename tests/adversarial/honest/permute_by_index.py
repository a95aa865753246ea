# Tries: a permuted copy of four axes, by arithmetic on the index alone.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: permute

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.permute(0, 2, 1, 3).contiguous()


def replacement_args(x):
    return (x,)


@triton.jit
def permute_kernel(x_ptr, out_ptr, count, heads, positions, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    last = at % width
    head = (at // width) % heads
    position = (at // (width * heads)) % positions
    image = at // (width * heads * positions)
    # the result's (image, head, position, last) is x's (image, position, head, last)
    to = ((image * heads + head) * positions + position) * width + last
    tl.store(out_ptr + to, tl.load(x_ptr + at, mask=inside), mask=inside)


@torch.fx.wrap
def permuted(x):
    images, positions, heads, width = x.shape
    out = torch.empty((images, heads, positions, width), dtype=x.dtype, device=x.device)
    permute_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), heads, positions, width, BLOCK=256)
    return out


def replacement_func():
    return permuted
