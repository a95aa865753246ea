"""What a candidate worker on CUDA does before its bundle arrives, so that the bundle's first call finds the compilers
loaded: it compiles and launches a kernel, and captures a module with Dynamo if bundles are captured by it. No candidate
code runs."""

from unittest import mock

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from passnet_core.judge.plan import on_gpu  # noqa: F401  an executor needs it
from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.worker import building
from passnet_core.judge.worker.compiler_process import CAPABILITY, WARP
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


def load_compilers(*, capturing: bool) -> None:
    """Have Triton compile, without a context on the GPU, and Dynamo as well if it is to capture."""
    if capturing:
        _capture()
    signature = {"source": "*fp32", "target": "*fp32", "length": "i32", "BLOCK": "constexpr"}
    source = ASTSource(_rectified, signature, {"BLOCK": LENGTH})
    triton.compile(source, target=GPUTarget("cuda", CAPABILITY, WARP))


def _capture() -> None:
    module = Preparation(Contender.PASSES, SOURCE, Capture.COMPILED, Device.CPU)
    # Dynamo keeps the state of the GPU's random numbers if there is one, and would create a context for that
    with mock.patch.object(torch.cuda, "is_available", return_value=False), torch.no_grad():
        building.prepared(module, (), {})([torch.ones(LENGTH)])
    torch._dynamo.reset()


def rehearse() -> None:
    """Launch a kernel."""
    source = torch.ones(LENGTH, device="cuda")
    _rectified[(1,)](source, torch.empty_like(source), LENGTH, BLOCK=LENGTH)
