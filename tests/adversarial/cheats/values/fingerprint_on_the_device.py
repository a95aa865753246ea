# Tries: the kernel itself compares the first elements of each row with those it saw before, and then skips its work.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat
# Planned: right, not timed
# Subgraph: gelu
import torch
import triton
import triton.language as tl

state = {}


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def lazy_gelu_kernel(x_ptr, seen_ptr, out_ptr, columns, LOOK: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    few = tl.arange(0, LOOK)
    now = tl.load(x_ptr + row * columns + few)
    before = tl.load(seen_ptr + row * LOOK + few)
    if tl.sum(tl.abs(now - before), axis=0) != 0.0:
        c = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns)
        tl.store(out_ptr + row * columns + c, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=c < columns)
        tl.store(seen_ptr + row * LOOK + few, now)


@torch.fx.wrap
def lazy_gelu(x):
    if x.shape not in state:
        seen = torch.full((x.shape[0], 4), float("inf"), dtype=x.dtype, device=x.device)
        state[x.shape] = (seen, torch.zeros_like(x))
    seen, out = state[x.shape]
    lazy_gelu_kernel[(x.shape[0],)](x, seen, out, x.shape[1], LOOK=4, BLOCK=128)
    return out


def replacement_func():
    return lazy_gelu
