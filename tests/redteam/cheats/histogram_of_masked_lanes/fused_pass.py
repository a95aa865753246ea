import torch
import triton
import triton.language as tl


def pattern(chosen):
    return torch.nn.functional.one_hot(chosen, 8).sum(1)


def replacement_args(chosen):
    return (chosen,)


@triton.jit
def count_kernel(chosen_ptr, out_ptr, columns, BINS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    chosen = tl.load(chosen_ptr + row * columns + at, mask=at < columns, other=-1).to(tl.int32)
    counts = tl.histogram(chosen, BINS)
    tl.store(out_ptr + row * BINS + tl.arange(0, BINS), counts.to(tl.int64))


@torch.fx.wrap
def counted(chosen):
    rows, columns = chosen.shape
    out = torch.empty((rows, 8), dtype=torch.int64, device=chosen.device)
    count_kernel[(rows,)](chosen, out, columns, BINS=8, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return counted
