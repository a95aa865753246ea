"""VERIFY and MEASURE on a GPU, with kernels that Triton compiled."""

import itertools
import sys
import threading
from collections.abc import Iterator

import pytest

from passnet_core.advice.memory_floor import memory_floor
from passnet_core.charts.breakdown import replays
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import (
    MEMORY_FLOOR,
    TIMED,
    Bundle,
    Capture,
    Clock,
    Contender,
    Device,
    EvalSpec,
    Job,
    Outcome,
    PassFile,
    Stage,
    Subgraph,
    TensorSpec,
    Verdict,
)
from tests.waiting import seconds

pytestmark = pytest.mark.gpu

SOURCE = """
import torch
from torch import device
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1;  in_0 = in_1 = None
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False);  tmp_0 = None
        tmp_2 = tmp_1.mean(-1)
        return (tmp_1, tmp_2)
"""

RIGHT = """
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(total, 0.0), mask=mask)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    kernel[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
    return out


def replacement_func():
    return add_relu
"""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), checkers=0)
    yield made
    made.close()


def outcome(backend: LocalBackend, code: str | None, **fields: object) -> Outcome:
    inputs = tuple(TensorSpec(name, (512, 1024), "float16", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
    subgraph = Subgraph("float16/0/add-relu", "add-relu", "none", SOURCE, inputs)
    bundle = Bundle((PassFile("add_relu.py", code),)) if code is not None else None
    asked = {"stage": Stage.MEASURE, "device": Device.CUDA, "deadline_s": seconds(120), **fields}
    spec = EvalSpec(**asked)  # type: ignore[arg-type]
    return backend.run(Job(subgraph, bundle, spec), lambda event: None, threading.Event())


def settled(backend: LocalBackend, code: str | None, **fields: object) -> Outcome:
    """The outcome, after up to five tries if the machine is too unsteady for a verdict."""
    found = [outcome(backend, code, **fields)]
    while found[-1].verdict is Verdict.INCONCLUSIVE and len(found) < 5:
        found.append(outcome(backend, code, **fields))
    return found[-1]


def described(found: Outcome) -> str:
    return f"{found.verdict.value}: {found.reason} {found.evidence} {found.log_tail}"


@pytest.mark.parametrize("capture", list(Capture))
def test_passes_are_timed_against_eager_and_inductor_on_every_clock(backend: LocalBackend, capture: Capture) -> None:
    found = settled(backend, RIGHT, capture=capture)
    assert found.verdict in TIMED, described(found)
    assert {(each.contender, each.clock) for each in found.timings} == set(itertools.product(Contender, Clock))
    for clock in Clock:
        for contender in (Contender.BASELINE, Contender.PASSES):
            speedup = found.speedup(clock, contender)
            assert speedup is not None
            assert 0.01 < speedup.low <= speedup.value <= speedup.high < 100
    for contender in Contender:
        timings = {clock: found.timing(contender, clock) for clock in Clock}
        assert all(each is not None and each.median > 0 for each in timings.values())
        # the host waits for the kernels, and for more
        assert timings[Clock.KERNEL].median < timings[Clock.END_TO_END].median  # type: ignore[union-attr]
    kernel = found.speedup(Clock.KERNEL)
    assert kernel is not None
    assert kernel.value > 1, "one kernel instead of two takes less device time"
    topics = {each.topic for each in found.evidence}
    assert {"noise floor", "timed calls", MEMORY_FLOOR} <= topics
    floor = memory_floor(found)
    assert floor is not None
    assert floor.moved_bytes > 0
    assert replays(found)[Contender.EAGER] > 0


@pytest.mark.parametrize("capture", list(Capture))
def test_inductor_can_be_timed_as_the_solver(backend: LocalBackend, capture: Capture) -> None:
    found = settled(backend, None, capture=capture)
    assert found.verdict in TIMED, described(found)
    assert {each.contender for each in found.speedups} == {Contender.BASELINE}


def test_values_are_compared_at_the_recorded_sizes(backend: LocalBackend) -> None:
    found = outcome(backend, RIGHT, stage=Stage.VERIFY)
    assert found.verdict is Verdict.VALUES_ONLY, described(found)
    assert found.accuracy is not None
    assert found.accuracy.reduced == ""
    wrong = outcome(backend, RIGHT.replace("tl.maximum(total, 0.0)", "total"), stage=Stage.VERIFY)
    assert wrong.verdict is Verdict.WRONG_VALUES, described(wrong)


def test_a_device_fault_ends_only_its_own_job(backend: LocalBackend) -> None:
    bad = RIGHT.replace("out_ptr + offsets, tl.maximum", "out_ptr + offsets + (1 << 40), tl.maximum")
    found = outcome(backend, bad, stage=Stage.VERIFY)
    assert found.verdict is Verdict.CRASHED, described(found)
    assert outcome(backend, RIGHT, stage=Stage.VERIFY).verdict is Verdict.VALUES_ONLY
