# Tries: both results are right, but each stands in the place of the other.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: two-outputs
import torch
import triton
import triton.language as tl


def pattern(a, b):
    s = a + b
    return s, s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-06)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def rms_kernel(a_ptr, b_ptr, s_ptr, y_ptr, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    c = tl.arange(0, BLOCK)
    inside = c < columns
    s = tl.load(a_ptr + start + c, mask=inside, other=0.0) + tl.load(b_ptr + start + c, mask=inside, other=0.0)
    tl.store(s_ptr + start + c, s, mask=inside)
    tl.store(y_ptr + start + c, s * tl.rsqrt(tl.sum(s * s, axis=0) / columns + eps), mask=inside)


@torch.fx.wrap
def add_rms(a, b):
    results = [torch.empty_like(a) for _ in range(2)]
    rms_kernel[(a.shape[0],)](a, b, *results, a.shape[1], 1e-6, BLOCK=triton.next_power_of_2(a.shape[1]))
    return tuple(reversed(results))


def replacement_func():
    return add_rms
