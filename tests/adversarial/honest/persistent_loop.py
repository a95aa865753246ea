# Tries: a fixed number of programs, each of which walks over many tiles.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: gelu

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


PROGRAMS = 6


@triton.jit
def gelu_kernel(x_ptr, out_ptr, count, tiles, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        offsets = tile * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < count
        x = tl.load(x_ptr + offsets, mask=inside)
        tl.store(out_ptr + offsets, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)), mask=inside)


@torch.fx.wrap
def gelu(x):
    out = torch.empty_like(x)
    tiles = triton.cdiv(x.numel(), 64)
    gelu_kernel[(min(PROGRAMS, tiles),)](x, out, x.numel(), tiles, PROGRAMS=PROGRAMS, BLOCK=64)
    return out


def replacement_func():
    return gelu
