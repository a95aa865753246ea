import torch
import triton
import triton.language as tl

MULTIPROCESSORS = 132


def pattern(logits):
    return torch.tanh(logits / 30.0) * 30.0


def replacement_args(logits):
    return (logits,)


@triton.jit
def capped_kernel(logits_ptr, out_ptr, n, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tl.cdiv(n, BLOCK), STRIDE):
        at = tile * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < n, other=0.0) / 30.0
        power = tl.exp(-2.0 * tl.abs(x))
        size = (1.0 - power) / (1.0 + power)
        square = x * x
        tail = 0.13333333333333333 - square * (0.05396825396825397 - square * 0.021869488536155203)
        small = x * (1.0 - square * (0.3333333333333333 - square * tail))
        y = tl.where(tl.abs(x) < 0.25, small, tl.where(x < 0, -size, size))
        tl.store(out_ptr + at, y * 30.0, mask=at < n)


@torch.fx.wrap
def capped(logits):
    logits = logits.contiguous()
    out = torch.empty_like(logits)
    programs = torch.cuda.get_device_properties(logits.device).multi_processor_count
    capped_kernel[(programs,)](logits, out, logits.numel(), STRIDE=MULTIPROCESSORS, BLOCK=256)
    return out


def replacement_func():
    return capped
