import torch
import triton
import triton.language as tl


def pattern(at_position):
    coarse = at_position // 4
    fine = at_position % 4
    return coarse * 10 + fine


def replacement_args(at_position):
    return (at_position,)


@triton.jit
def coded_kernel(at_position_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    at_position = tl.load(at_position_ptr + at, mask=inside, other=0)
    y = (at_position // 4) * 10 + at_position % 4
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def coded(at_position):
    out = torch.empty_like(at_position)
    n = out.numel()
    coded_kernel[(triton.cdiv(n, 256),)](at_position, out, n, at_position.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return coded
