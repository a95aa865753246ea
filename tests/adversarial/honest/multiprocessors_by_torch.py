# Tries: a persistent kernel with two programs for each multiprocessor that torch.cuda counts on the tensor's device.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: leaky

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def leaky_kernel(x_ptr, out_ptr, count, SIZE: tl.constexpr):
    tiles = tl.cdiv(count, SIZE)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        place = tile * SIZE + tl.arange(0, SIZE)
        inside = place < count
        x = tl.load(x_ptr + place, mask=inside)
        tl.store(out_ptr + place, tl.where(x > 0, x, x * 0.2), mask=inside)


@torch.fx.wrap
def leaky(x):
    out = torch.empty_like(x)
    programs = 2 * torch.cuda.get_device_properties(x.device).multi_processor_count
    leaky_kernel[(min(programs, triton.cdiv(x.numel(), 32)),)](x, out, x.numel(), SIZE=32)
    return out


def replacement_func():
    return leaky
