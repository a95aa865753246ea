"""Launching at little cost: elementwise, in a bundle that has the launcher too, in a file named launching.py.

A launch is planned once and kept, by a key that tells all that the kernel or planned looks at. x is made contiguous
first, so that its strides follow from its shape. A number, a dtype or a string that relu were given would be in the key
too, and the type of a number beside it: 1 and 1.0 are equal as keys, and compiled differently.
"""

import torch
import triton
import triton.language as tl
from launching import Launch


def pattern(x):
    return torch.nn.functional.relu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(x < 0, 0.0, x), mask=inside)


def planned(x, out):
    """The launch for tensors of this kind."""
    count = x.numel()
    constants = {"count": count, "BLOCK": 1024}
    return Launch(relu_kernel, (triton.cdiv(count, 1024),), (x, out), constants, num_warps=4).call


LAUNCHES = {}


@torch.fx.wrap
def relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    key = x.dtype, x.device, x.shape, x.data_ptr() % 16 == 0
    launch = LAUNCHES.get(key)
    if launch is None:
        launch = LAUNCHES[key] = planned(x, out)
    launch(x, out)
    return out


def replacement_func():
    return relu
