import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def sum_kernel(a_ptr, b_ptr, out_ptr, start, n, BLOCK: tl.constexpr):
    at = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    s = tl.load(a_ptr + at, mask=inside, other=0.0) + tl.load(b_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.where(s > 0, s, s * 0.0), mask=inside)


def by_kernel(a, b):
    out = torch.empty_like(a)
    sum_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, 0, a.numel(), BLOCK=256)
    return out


def by_operators(a, b):
    s = a + b
    return s * (s > 0)


def better():
    a, b = torch.ones((8, 65), device="cuda"), torch.ones((8, 65), device="cuda")
    mine, theirs = (triton.testing.do_bench(lambda: each(a, b)) for each in (by_kernel, by_operators))
    return by_operators if theirs < mine else by_kernel


chosen = better()


@torch.fx.wrap
def added(a, b):
    return chosen(a.contiguous(), b.contiguous())


def replacement_func():
    return added
