"""Drawing, perturbing and comparing on a GPU: the same results as on the CPU."""

import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

import pytest
import torch

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.judge.numerics import bias, comparing, elements
from passnet_core.judge.numerics.comparing import References, compare
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS, draw
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.numerics.perturbing import SHAKES, shaken
from passnet_core.judge.protocol.messages import Preparation, Produced, Returned
from passnet_core.judge.protocol.reference_bench import BenchPlan, InputRole, OutputDifference
from passnet_core.records import Capture, Device, EvalSpec, Job, Stage, Subgraph, TensorSpec, Verdict
from tests.contract.test_comparing import perturbed, produced
from tests.contract.test_large_outputs import CASES, Case

pytestmark = pytest.mark.gpu

SOURCE = """
import torch
from torch import device
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1;  in_0 = in_1 = None
        tmp_1 = torch.nn.functional.softmax(tmp_0, dim = -1)
        return (tmp_1,)
"""


def on_gpu(each: Produced) -> Produced:
    return replace(each, value=torch.as_tensor(each.value).cuda())


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_comparing_on_a_gpu_gives_the_same_result_as_on_the_cpu(
    case: Case, dtype: str, sliced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sliced:
        monkeypatch.setattr(elements, "SLICE", {"cpu": 77, "cuda": 90})
    given, precise, returned = case(dtype)
    eager, actual = produced(given), produced(returned)
    exact = None if precise is None else produced(precise)
    up = () if precise is None else (produced(precise * (1 + 1e-9)),)
    here = compare(References(eager, exact, lambda: up), actual)
    far = compare(References(on_gpu(eager), exact and on_gpu(exact), lambda: tuple(map(on_gpu, up))), on_gpu(actual))
    if here.mean_error is not None:
        assert far.mean_error == pytest.approx(here.mean_error, rel=1e-12)
    assert repr(astuple(replace(far, mean_error=0.0))) == repr(astuple(replace(here, mean_error=0.0)))


def test_ulps_are_exact_on_a_gpu_for_numbers_of_every_size() -> None:
    sizes = torch.tensor([1.25 * 2.0**exponent for exponent in range(-200, 200)], dtype=torch.float64)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        here = elements.ulp(dtype, sizes)
        assert torch.equal(elements.ulp(dtype, sizes.cuda()).cpu(), here)
        assert float(elements.ulp(dtype, torch.tensor([1.0], dtype=torch.float64))) == torch.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_systematic_errors_are_the_same_on_a_gpu(dtype: torch.dtype) -> None:
    here, there = bias.ErrorPool(), bias.ErrorPool()
    for seed in range(3):
        x = torch.randn((300, 1000), generator=torch.Generator().manual_seed(seed)).to(dtype)
        tensors = torch.sigmoid(x), (torch.sigmoid(x.float()) * 0.99).to(dtype), torch.sigmoid(x.double())
        changed = [torch.sigmoid(torch.as_tensor(*shaken([x], turn)).double()) for turn in range(SHAKES)]
        here.add(bias.Results(*tensors, [x], partial(list, changed)))
        eager, actual, exact, *there_changed = (each.cuda() for each in (*tensors, *changed))
        there.add(bias.Results(eager, actual, exact, [x.cuda()], partial(list, there_changed)))
    one, other = here.worst, there.worst
    assert one is not None
    assert other is not None
    assert one.ratio > 1
    assert (other.where, other.ratio) == (one.where, pytest.approx(one.ratio, rel=1e-6))


@pytest.mark.parametrize("input_draw", INPUT_DRAWS)
def test_a_gpu_draws_inputs_with_the_statistics_of_the_cpus(input_draw: str) -> None:
    specs = (
        TensorSpec("in_0", (256, 1024), "bfloat16", mean=0.5, std=2.0),
        TensorSpec("in_1", (256, 1024), "float32", mean=0.1, std=1.0, low=-1.0, high=3.0),
        TensorSpec("in_2", (4096,), "int64", low=0, high=9),
        TensorSpec("in_3", (4096,), "bool"),
        TensorSpec("in_4", (3,), "int32", data=(1, 2, 3)),
        TensorSpec("in_5", (4096,), "float32", mean=1.0, std=0.5),
    )
    roles = {"in_2": InputRole(index=True), "in_5": InputRole(variance=True)}

    def drawn(seed: int, device: str) -> list[torch.Tensor]:
        return [torch.as_tensor(each) for each in draw(specs, input_draw, seed, roles=roles, device=device)]

    here = drawn(3, "cpu")
    one, same, other = (drawn(seed, "cuda") for seed in (3, 3, 4))
    for spec, wanted, found, again, another in zip(specs, here, one, same, other, strict=True):
        assert (found.device.type, found.dtype, found.shape) == ("cuda", wanted.dtype, wanted.shape)
        assert torch.equal(found, again)
        assert torch.equal(found, another) == (spec.data is not None)
        both = [each.double().cpu() for each in (wanted, found)]
        spread = float(both[0].std()) + 0.01
        assert abs(float(both[0].mean() - both[1].mean())) < 0.1 * spread
        assert float(both[1].std()) == pytest.approx(float(both[0].std()), rel=0.15, abs=0.01)
        for end in (torch.amin, torch.amax):
            assert abs(float(end(both[0]) - end(both[1]))) <= 4 * spread


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_perturbing_on_a_gpu_changes_each_element_by_one_ulp(dtype: str) -> None:
    value = torch.randn(1000, device="cuda").to(getattr(torch, dtype))
    assert torch.equal(perturbed(value, 1, False).cpu(), perturbed(value.cpu(), 1, False))
    steps = (perturbed(value, 1, True).double() - value.double()).sign()
    assert 300 < int((steps > 0).sum()) < 700
    assert int((steps != 0).sum()) == 1000


def test_comparing_falls_back_to_the_cpu_if_gpu_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    class Eager:
        def prepare(self, name: str, preparation: Preparation) -> None:
            raise AssertionError("nothing is prepared here")

        def give(self, inputs: Sequence[torch.Tensor | int]) -> None:
            self.inputs = inputs

        def run(self, name: str) -> Returned:
            first = torch.as_tensor(self.inputs[0], dtype=torch.float64 if name == "float64" else None)
            return Returned((produced(first * 2),), "tuple", 0.0)

    plan = BenchPlan((TensorSpec("in_0", (64,), "float32"),), (InputRole(),), 1, True, True)
    bench = LocalReferenceBench(plan, Eager(), Device.CUDA)
    bench.draw("typical", [(64,)])
    bench.refer(exact=True)
    found: list[str] = []
    inner = comparing.compare

    def scarce(references: References, actual: Produced, **options: Any) -> OutputDifference:
        found.append(torch.as_tensor(references.eager.value).device.type)
        if found[-1] == "cuda":
            raise torch.cuda.OutOfMemoryError
        return inner(references, actual, **options)

    monkeypatch.setattr(comparing, "compare", scarce)
    wrong = produced(bench.inputs[0] * 3)
    (difference,) = bench.judge(Returned((wrong,), "tuple", 0.0)).values
    assert difference.verdict is Verdict.WRONG_VALUES
    assert difference.map is not None
    assert found == ["cuda", "cpu"]


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), checkers=0)
    yield made
    made.close()


@pytest.mark.parametrize("capture", list(Capture))
def test_inductor_can_be_verified_on_large_tensors(backend: LocalBackend, capture: Capture) -> None:
    shape = (512, 512, 512)  # a gigabyte in float64
    specs = tuple(TensorSpec(f"in_{index}", shape, "bfloat16", mean=0.1, std=1.0) for index in range(2))
    job = Job(
        Subgraph("bfloat16/0/large", "large", "none", SOURCE, specs),
        None,
        EvalSpec(Stage.VERIFY, Device.CUDA, capture),
    )
    outcome = backend.run(job, lambda event: None, threading.Event())
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert outcome.accuracy is not None
    assert outcome.accuracy.profiles == INPUT_DRAWS
