"""Code that was written for a GPU runs without one, and only that code is told that there is one."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Capture, Verdict
from tests.contract.interpreted import run_interpreted
from tests.contract.judging import job, judged
from tests.contract.test_census import replacing

pytestmark = pytest.mark.settled


QUESTIONS = """
import copy
from passnet_core.judge.gpu_on_cpu import pretended_device
from passnet_core.judge.numerics.bits import same_bits
from passnet_core.judge.worker.staging import copied
pretended_device.install()


@triton.jit
def doubled(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@pretended_device.pretended
def asks(x):
    assert x.is_cuda and not x.is_cpu and x.device.type == "cuda" and x.get_device() == 0
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.version.cuda
    properties = torch.cuda.get_device_properties(x.device)
    count = properties.multi_processor_count
    assert 16 <= count <= 132 and properties.major == 9
    assert torch.cuda.get_device_capability() == (9, 0) and torch.cuda.get_device_name(0) == properties.name
    active = triton.runtime.driver.active
    assert active.utils.get_device_properties(active.get_current_device())["multiprocessor_count"] == count
    assert active.get_current_target().arch == 90 and active.get_active_torch_device() == x.device
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.device(x.device), torch.cuda.stream(other):
        start.record()
        buffers = [
            torch.empty(x.shape, device=x.device), torch.empty(x.shape, device="cuda"),
            torch.zeros(x.shape, device="cuda:0"), torch.full(x.shape, 1.0, device=torch.device("cuda")),
            torch.empty_like(x), torch.ones(x.shape, device=torch.cuda.current_device()),
            torch.ones_like(x).to(x.device), torch.ones_like(x).to(0),
            x.new_empty(x.shape), torch.empty_strided(x.shape, x.stride(), device=x.device),
            torch.as_tensor([1.0], device="cuda").cuda(), torch.empty(x.shape, device="cuda", pin_memory=False),
        ]
        end.record()
    torch.cuda.current_stream().wait_stream(other)
    buffers[0].record_stream(other)
    torch.cuda.synchronize()
    assert start.query() and start.elapsed_time(end) > 0
    assert all(each.device == x.device and each.is_cuda for each in buffers)
    assert "cuda" in str(x.device) and "cuda" in repr(torch.device(x.device))
    with torch.device("cuda"):
        assert torch.empty(3).is_cuda
    out = buffers[0]
    doubled[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), B=64)
    assert copy.deepcopy(out).is_cuda and repr(out)
    return out, asks_again(x)


@pretended_device.pretended
def asks_again(x):
    return torch.empty(x.shape, device=x.device, dtype=torch.int32)


x = torch.randn(100)
out, second = asks(x)
assert torch.equal(out, 2 * x) and type(out) is torch.Tensor and type(second) is torch.Tensor
for each in (x, out, second, copied(x)):
    assert each.device == torch.device("cpu") and not each.is_cuda and each.is_cpu and each.get_device() == -1
assert same_bits(out, out.clone()) and not torch.cuda.is_available() and torch.version.cuda is None


@pretended_device.pretended
def fails(x):
    raise ValueError("mine")


try:
    fails(x)
except ValueError:
    assert not x.is_cuda and not torch.cuda.is_available()

from passnet_core.judge.gpu_on_cpu.needs_gpu import need_of
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl


@gluon.jit
def in_gluon(x):
    ttgl.store(x, 1.0)


try:
    pretended_device.pretended(lambda: in_gluon[(1,)](x))()
except Exception as error:
    assert need_of(error).startswith("the kernel in_gluon"), repr(error)
else:
    raise AssertionError("nothing can load a compiled kernel here")

# torch.compile, whose guards read the tensors' device, and in whose backend a replacement is called
def backend(module, inputs):
    def call(*given):
        out, _ = asks(given[0])
        return (out,)
    return call


compiled = torch.compile(lambda a: a * 2, backend=backend, dynamic=False)
for _ in range(3):
    assert torch.equal(compiled(x), 2 * x)
assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
print("answered")
"""


def test_bundles_are_told_that_they_run_on_a_gpu_and_nobody_else(tmp_path: Path) -> None:
    assert run_interpreted(QUESTIONS, tmp_path) == "answered"


def test_each_process_is_told_of_a_card_of_its_own(tmp_path: Path) -> None:
    count = "from passnet_core.judge.gpu_on_cpu import pretended_device\n" + "\n".join(
        ["pretended_device.install()\nprint(pretended_device.properties().multi_processor_count)"] * 40
    )
    assert len(set(run_interpreted(count, tmp_path).split())) > 5


@pytest.mark.parametrize("capture", Capture)
def test_a_pass_that_insists_on_a_gpu_is_judged_like_any_other(backend: LocalBackend, capture: Capture) -> None:
    lines = [
        "assert a.is_cuda and torch.cuda.is_available() and a.device.type == 'cuda'",
        "with torch.cuda.device(a.device):",
        "    spare = torch.empty(PROGRAMS, device='cuda')",
        "torch.cuda.synchronize()",
        "return own(a, b)",
    ]
    top = "import torch\nPROGRAMS = torch.cuda.get_device_properties(0).multi_processor_count"
    asked = job(replacing(*lines, top=top))
    outcome = judged(backend, replace(asked, spec=replace(asked.spec, capture=capture)))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
