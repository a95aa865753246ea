import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.square(torch.nn.functional.relu(x, inplace=False))


def replacement_args(x):
    return (x,)


@triton.jit
def squared_relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
    x = tl.maximum(x, 0.0)
    tl.store(out_ptr + at, (x * x).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def squared_relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    squared_relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


def replacement_func():
    return squared_relu
