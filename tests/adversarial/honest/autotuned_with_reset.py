# Tries: a tuned kernel that accumulates with atomics: reset_to_zero clears its output between trials.
# Family: honest
# Needs: gpu
# Verdict: accepted
# Subgraph: total

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum()


def replacement_args(x):
    return (x,)


@triton.autotune(
    configs=[triton.Config({"BLOCK": size}, num_warps=size // 128) for size in (256, 512, 1024)],
    key=["count"],
    reset_to_zero=["out_ptr"],
)
@triton.jit
def total_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)))


@torch.fx.wrap
def total(x):
    out = torch.zeros((), dtype=torch.float32, device=x.device)
    count = x.numel()
    total_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, count)
    return out


def replacement_func():
    return total
