"""What a candidate worker on CUDA does before its bundle arrives, so that the bundle's first call finds the compilers
loaded: it compiles and launches a kernel, and captures a module with Dynamo. No candidate code runs."""

import torch
import triton
import triton.language as tl

from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.worker import building, launch_recorder  # noqa: F401  the first watched call needs the latter
from passnet_core.records import Capture, Contender, Device

SOURCE = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        x_0 = torch.relu(in_0)
        return (x_0,)
"""
LENGTH = 128


@triton.jit
def _rectified(source, target, length, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < length
    tl.store(target + at, tl.maximum(tl.load(source + at, inside), 0.0), inside)


def rehearse() -> None:
    """Launch a kernel, and call a module that Dynamo captures."""
    source = torch.ones(LENGTH, device="cuda")
    _rectified[(1,)](source, torch.empty_like(source), LENGTH, BLOCK=LENGTH)
    asked = Preparation(Contender.PASSES, SOURCE, Capture.COMPILED, Device.CUDA)
    with torch.no_grad():
        building.prepared(asked, (), {})([source])
    torch._dynamo.reset()
