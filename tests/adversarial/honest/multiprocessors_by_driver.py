# Tries: asks Triton's driver for the number of multiprocessors of the current device, once.
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


COUNTED = []


def multiprocessors():
    if not COUNTED:
        driver = triton.runtime.driver.active
        COUNTED.append(driver.utils.get_device_properties(driver.get_current_device())["multiprocessor_count"])
    return COUNTED[0]


@torch.fx.wrap
def leaky(x):
    out = torch.empty_like(x)
    leaky_kernel[(min(multiprocessors(), triton.cdiv(x.numel(), 64)),)](x, out, x.numel(), SIZE=64)
    return out


def replacement_func():
    return leaky
