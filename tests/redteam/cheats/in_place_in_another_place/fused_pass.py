import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.relu(x, inplace=True)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.maximum(tl.load(x_ptr + at, mask=at < n, other=0.0), 0.0)
    tl.store(x_ptr + at, y, mask=at < n)
    tl.store(out_ptr + at, y, mask=at < n)


@torch.fx.wrap
def relu(x):
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return relu
