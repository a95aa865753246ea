"""GELU by the error function, five operations of a graph, in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(in_0):
    """What to look for: the five operations, under the names that they have in the graph."""
    tmp_0 = in_0 * 0.5
    tmp_1 = in_0 / 1.4142135623730951
    tmp_2 = torch.erf(tmp_1)
    tmp_3 = 1.0 + tmp_2
    tmp_4 = tmp_0 * tmp_3
    return tmp_4


def replacement_args(in_0):
    """What the replacement is called with."""
    return (in_0,)


@triton.jit
def gelu_kernel(in_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Computes one block of elements. The names are the graph's."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    in_0 = tl.load(in_ptr + offsets, mask=inside)

    tmp_0 = in_0 * 0.5
    tmp_1 = in_0 / 1.4142135623730951
    tmp_2 = tl.erf(tmp_1)
    tmp_3 = 1.0 + tmp_2
    tmp_4 = tmp_0 * tmp_3

    tl.store(out_ptr + offsets, tmp_4, mask=inside)


@torch.fx.wrap
def gelu(in_0):
    """The replacement: launches the kernel once and returns what it wrote."""
    in_0 = in_0.contiguous()
    out = torch.empty_like(in_0)
    count = eval("out.numel()")
    gelu_kernel[(triton.cdiv(count, 1024),)](in_0, out, count, BLOCK=1024)
    return out


def replacement_func():
    """Names the replacement."""
    return gelu
