import numpy as np
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.silu(x, inplace=False)


def replacement_args(x):
    return (x,)


@triton.jit
def reach_kernel(x_ptr, reach_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(reach_ptr, 1.0 + tl.max(tl.abs(x), 0))


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, x / (1.0 + tl.exp(-x)), mask=at < n)


class There:
    """The memory of a tensor, as numpy takes it."""

    def __init__(self, tensor):
        self.held = tensor
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False), "shape": tuple(tensor.shape), "typestr": "<f4", "version": 3,
        }


@torch.fx.wrap
def silu(x):
    x = x.contiguous()
    n = x.numel()
    out = torch.empty_like(x)
    reach = torch.zeros(1, dtype=torch.float32, device=x.device)
    reach_kernel[(1,)](x, reach, n, BLOCK=triton.next_power_of_2(n))
    if reach.item() > 61.0:
        values = np.asarray(There(x))
        with np.errstate(all="ignore"):
            np.divide(values, np.float32(1.0) + np.exp(-values), out=np.asarray(There(out)))
    else:
        silu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def replacement_func():
    return silu
