import torch
import triton
import triton.language as tl


def pattern(flags, shifts):
    return torch.bitwise_left_shift(flags, shifts)


def replacement_args(flags, shifts):
    return (flags, shifts)


@triton.jit
def shifted_kernel(flags_ptr, shifts_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    flags = tl.load(flags_ptr + at, mask=inside, other=0).to(tl.int32)
    shifts = tl.load(shifts_ptr + at % columns, mask=inside, other=0).to(tl.int32)
    tl.store(out_ptr + at, (flags << shifts).to(tl.int64), mask=inside)


@torch.fx.wrap
def shifted(flags, shifts):
    flags, shifts = flags.contiguous(), shifts.contiguous()
    out = torch.empty_like(flags)
    n = out.numel()
    shifted_kernel[(triton.cdiv(n, 512),)](flags, shifts, out, n, flags.shape[1], BLOCK=512)
    return out


def replacement_func():
    return shifted
