"""Results that lie on the CPU beside others on the device, and values that the device refuses."""

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Device, EvalSpec, Job, Stage, Subgraph, TensorSpec, Verdict
from tests.contract.judging import ample_s, bundle, judged

pytestmark = pytest.mark.gpu

CODE = """
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 + 1
        tmp_1 = ELSEWHERE
        return (tmp_0, tmp_1)
"""

PASS = """
import torch
import triton
import triton.language as tl


def pattern(in_0):
    return in_0 + 1


def replacement_args(in_0):
    return (in_0,)


@triton.jit
def add_kernel(in_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(in_ptr + offsets, mask=mask) + 1, mask=mask)


@torch.fx.wrap
def add(in_0):
    out = torch.empty_like(in_0)
    add_kernel[(triton.cdiv(in_0.numel(), 1024),)](in_0, out, in_0.numel(), 1024)
    return out


def replacement_func():
    return add
"""


@pytest.mark.parametrize(
    "elsewhere", ["torch.arange(5)", "torch.ones(3)", "torch.tensor(2.0)", "tmp_0.to('cpu')", "tmp_0.cpu()"]
)
@pytest.mark.parametrize("stage", [Stage.VERIFY, Stage.MEASURE])
def test_a_result_on_the_cpu_is_compared_like_others(backend: LocalBackend, elsewhere: str, stage: Stage) -> None:
    spec = TensorSpec("in_0", (64, 33), "float32", mean=0.1, std=1.0)
    subgraph = Subgraph("float32/0/elsewhere", "elsewhere", "none", CODE.replace("ELSEWHERE", elsewhere), (spec,))
    asked = EvalSpec(stage=stage, device=Device.CUDA, deadline_s=ample_s(), seed=1)
    outcome = judged(backend, Job(subgraph, bundle(PASS), asked))
    assert outcome.verdict.value.startswith("right"), outcome.reason


def test_values_that_a_device_refuses_are_eagers_failure(backend: LocalBackend) -> None:
    spec = TensorSpec("in_0", (64, 33), "float32", mean=0.1, std=1.0)
    loss = "torch.nn.functional.binary_cross_entropy(in_0, torch.sigmoid(in_0))"
    subgraph = Subgraph("float32/0/refused", "refused", "none", CODE.replace("ELSEWHERE", loss), (spec,))
    asked = EvalSpec(stage=Stage.VERIFY, device=Device.CUDA, deadline_s=ample_s(), seed=1)
    outcome = judged(backend, Job(subgraph, bundle(PASS), asked))
    assert outcome.verdict is Verdict.EAGER_FAILED, outcome.reason
