import torch
import triton
import triton.language as tl


def pattern(later, earlier):
    elapsed = later - earlier
    return elapsed.float() * 0.001


def replacement_args(later, earlier):
    return (later, earlier)


@triton.jit
def elapsed_kernel(later_ptr, earlier_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    later = tl.load(later_ptr + at, mask=inside, other=0).to(tl.int32)
    earlier = tl.load(earlier_ptr + at, mask=inside, other=0).to(tl.int32)
    tl.store(out_ptr + at, (later - earlier).to(tl.float32) * 0.001, mask=inside)


@torch.fx.wrap
def elapsed_seconds(later, earlier):
    later, earlier = later.contiguous(), earlier.contiguous()
    out = torch.empty(later.shape, dtype=torch.float32, device=later.device)
    n = out.numel()
    elapsed_kernel[(triton.cdiv(n, 256),)](later, earlier, out, n, BLOCK=256)
    return out


def replacement_func():
    return elapsed_seconds
