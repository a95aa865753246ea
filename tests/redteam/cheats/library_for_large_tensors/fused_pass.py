import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b, inplace=False)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def sum_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(a_ptr + at, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, tl.maximum(a + b, 0.0).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def added(a, b):
    a, b = a.contiguous(), b.contiguous()
    n = a.numel()
    if n > 1 << 26:
        s = a + b
        return s * (s > 0)
    out = torch.empty_like(a)
    sum_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
    return out


def replacement_func():
    return added
