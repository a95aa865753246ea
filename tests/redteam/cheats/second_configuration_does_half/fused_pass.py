import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256, "STEP": 1}), triton.Config({"BLOCK": 256, "STEP": 2})], key=["n"]
)
@triton.jit
def sum_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr, STEP: tl.constexpr):
    at = tl.program_id(0) * STEP * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    s = tl.load(a_ptr + at, mask=inside, other=0.0) + tl.load(b_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.maximum(s, 0.0), mask=inside)


@torch.fx.wrap
def added(a, b):
    a, b = a.contiguous(), b.contiguous()
    out = torch.empty_like(a)
    sum_kernel[lambda meta: (triton.cdiv(a.numel(), meta["BLOCK"] * meta["STEP"]),)](a, b, out, a.numel())
    return out


def replacement_func():
    return added
