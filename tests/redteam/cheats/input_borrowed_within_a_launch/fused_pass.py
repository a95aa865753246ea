import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.softmax(x, dim=-1)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + at, mask=inside, other=-float("inf"))
    tl.store(x_ptr + at, tl.exp(x - tl.max(x, 0)), mask=inside)
    tl.debug_barrier()
    e = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, e / tl.sum(e, 0), mask=inside)
    tl.debug_barrier()
    tl.store(x_ptr + at, x, mask=inside)


@torch.fx.wrap
def softmax(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return softmax
