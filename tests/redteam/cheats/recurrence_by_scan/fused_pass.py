import torch
import triton
import triton.language as tl


def pattern(x):
    z0 = x[:, 0]
    z1 = z0 * 0.9 + x[:, 1]
    z2 = z1 * 0.9 + x[:, 2]
    z3 = z2 * 0.9 + x[:, 3]
    z4 = z3 * 0.9 + x[:, 4]
    z5 = z4 * 0.9 + x[:, 5]
    z6 = z5 * 0.9 + x[:, 6]
    z7 = z6 * 0.9 + x[:, 7]
    return torch.stack([z0, z1, z2, z3, z4, z5, z6, z7], dim=1)


def replacement_args(x):
    return (x,)


@triton.jit
def decayed(before, here):
    return before * 0.9 + here


@triton.jit
def scan_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + at, tl.associative_scan(x, 0, decayed), mask=inside)


@torch.fx.wrap
def averaged(x):
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    scan_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return averaged
