import torch
import triton
import triton.language as tl


def pattern(a, b):
    return (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def distance_kernel(a_ptr, b_ptr, out_ptr, codes, depth, CODES: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at, code = tl.arange(0, BLOCK), tl.arange(0, CODES)
    inside = (code < codes)[:, None] & (at < depth)[None, :]
    a = tl.load(a_ptr + row * depth + at, mask=at < depth, other=0.0)
    b = tl.load(b_ptr + code[:, None] * depth + at[None, :], mask=inside, other=0.0)
    product = tl.sum(b * a[None, :], 1)
    distance = tl.sum(a * a, 0) + tl.sum(b * b, 1) - 2.0 * product
    tl.store(out_ptr + row * codes + code, distance, mask=code < codes)


@torch.fx.wrap
def distances(a, b):
    a, b = a.contiguous(), b.contiguous()
    rows, depth = a.shape
    codes = b.shape[0]
    out = torch.empty((rows, codes), dtype=a.dtype, device=a.device)
    distance_kernel[(rows,)](
        a, b, out, codes, depth, CODES=triton.next_power_of_2(codes), BLOCK=triton.next_power_of_2(depth)
    )
    return out


def replacement_func():
    return distances
