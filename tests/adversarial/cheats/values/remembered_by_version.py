# Tries: trusts the version counter of its input to tell new content in the same memory.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat | rejected by a rule
# Subgraph: leaky
import torch
import triton
import triton.language as tl

last = {"stamp": None, "out": None}


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def leaky_kernel(x_ptr, o_ptr, n, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(o_ptr + i, tl.where(x >= 0, x, x * slope), mask=i < n)


@torch.fx.wrap
def leaky(x):
    stamp = (x._version, x.data_ptr())
    if last["stamp"] != stamp:
        last["out"] = torch.empty_like(x)
        leaky_kernel[(triton.cdiv(x.numel(), 256),)](x, last["out"], x.numel(), 0.2, BLOCK=256)
        last["stamp"] = stamp
    return last["out"]


def replacement_func():
    return leaky
