# Tries: a sigmoid as exp(x) / (1 + exp(x)), which is NaN for large x.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity | wrong values
# Subgraph: split-gate-large
import torch
import triton
import triton.language as tl


def pattern(x):
    halves = x.chunk(2, dim=-1)
    return halves[0] * torch.sigmoid(halves[1])


def replacement_args(x):
    return (x,)


@triton.jit
def quotient_kernel(x_ptr, o_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * 2 * half + c, mask=c < half)
    e = tl.exp(tl.load(x_ptr + (row * 2 + 1) * half + c, mask=c < half))
    tl.store(o_ptr + row * half + c, value * (e / (1.0 + e)), mask=c < half)


@torch.fx.wrap
def quotient(x):
    rows, half = x.shape[0], x.shape[1] // 2
    out = torch.empty((rows, half), dtype=x.dtype, device=x.device)
    quotient_kernel[(rows,)](x, out, half, BLOCK=triton.next_power_of_2(half))
    return out


def replacement_func():
    return quotient
