"""Callables built from source: checked, placed, in float64, captured by torch.compile, and through Inductor."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.fx import modules, tracing
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import emit, parse
from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.worker import building, timing
from passnet_core.operations.binding import bind
from passnet_core.records import Baseline, Capture, Contender, Device

pytestmark = pytest.mark.settled

PROJECT = Path(__file__).resolve().parents[2]

SOURCE = """
import torch
from torch import device
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.silu(tmp_0, inplace=True);  tmp_0 = None
        tmp_2 = torch.arange(4, device=device(type='cpu'), dtype=torch.float32)
        tmp_2 += 1
        tmp_3 = tmp_2
        tmp_4 = tmp_1 * tmp_3
        tmp_5 = tmp_4.to(torch.float16)
        tmp_6 = tmp_5[(slice(None, None, None), 0)]
        return (tmp_5, tmp_6)
"""


Inputs = list[torch.Tensor]


def silu_of_sum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = a + b
    return total * torch.sigmoid(total)


def traced() -> TracedPass:
    return TracedPass(
        "silu_of_sum",
        tracing.trace_pattern(lambda a, b: torch.nn.functional.silu(a + b, True)),
        tracing.trace_arguments(lambda a, b: (a, b)),
        "replacement_0",
    )


def prepared(contender: Contender, capture: Capture, source: str = SOURCE, float64: bool = False) -> building.Prepared:
    asked = Preparation(contender, source, capture, Device.CPU, float64)
    return building.prepared(asked, (traced(),), {"replacement_0": silu_of_sum})


def called(call: building.Prepared, inputs: Inputs) -> Any:
    with torch.no_grad():
        return call([value.clone() for value in inputs])


@pytest.fixture
def inputs() -> Inputs:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(3, 4, generator=generator) for _ in range(2)]


def test_both_captures_run_the_replacement_and_give_eagers_values(inputs: Inputs) -> None:
    expected = called(prepared(Contender.EAGER, Capture.DIRECT), inputs)
    rewritten = rewrite(parse(SOURCE), (traced(),), bind=bind)
    assert [len(report.matches) for report in rewritten.reports] == [1]
    direct = prepared(Contender.PASSES, Capture.DIRECT, emit(rewritten.graph))
    captured = prepared(Contender.PASSES, Capture.COMPILED)
    for call in (direct, captured):
        for wanted, given in zip(expected, called(call, inputs), strict=True):
            assert given.dtype is torch.float16
            torch.testing.assert_close(given, wanted)
    assert direct.matches is None
    assert captured.matches == 1


@pytest.mark.parametrize("spelled", ["tmp_3 == 0", "tmp_3.__eq__(0)"])
def test_a_comparison_matches_in_dynamos_graph_however_dynamo_records_it(spelled: str) -> None:
    """torch 2.13 records == as an operator, torch 2.11 as a method: the method, if it is called, in both."""
    (subgraph, *_) = Corpus([PROJECT / "data" / "tasks"]).task("view-unsqueeze-unsqueeze-sub-ne-eq-0550d5").subgraphs
    module: dict[str, Any] = {}
    assert "tmp_3 == 0" in subgraph.code
    exec(subgraph.code.replace("tmp_3 == 0", spelled), module)  # captured by this project's own extractor
    pattern = tracing.trace_pattern(lambda a: a == 0)
    equal = TracedPass("equal", pattern, tracing.trace_arguments(lambda a: (a,)), "replacement_0")
    backend = building._RewritingBackend((equal,), {"replacement_0": lambda a: torch.logical_not(a)})
    backend.report_to = building.Prepared(lambda inputs: None, matches=0)
    (spec,) = subgraph.inputs
    x = torch.randint(3, spec.shape).to(getattr(torch, spec.dtype))
    found = building._compiled(module["GraphModule"](), backend)(x)
    assert backend.report_to.matches == 1
    for wanted, given in zip(module["GraphModule"]()(x), found, strict=True):
        assert torch.equal(wanted, given)


def test_a_compiled_capture_counts_zero_matches_if_no_pass_matches(inputs: Inputs) -> None:
    call = prepared(Contender.PASSES, Capture.COMPILED, SOURCE.replace("in_0 + in_1", "in_0 - in_1"))
    called(call, inputs)
    assert call.matches == 0


def test_float64_widens_inputs_casts_and_factories(inputs: Inputs) -> None:
    exact = called(prepared(Contender.EAGER, Capture.DIRECT, float64=True), inputs)
    assert [value.dtype for value in exact] == [torch.float64, torch.float64]
    total = inputs[0].double() + inputs[1].double()
    by_hand = torch.nn.functional.silu(total) * torch.arange(1, 5, dtype=torch.float64)
    torch.testing.assert_close(exact[0], by_hand, rtol=1e-12, atol=1e-12)
    assert torch.get_default_dtype() is torch.float32


def test_moved_changes_what_eager_rounds_to_half_precision_and_nothing_else() -> None:
    source = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        half = in_0.transpose(0, 1).contiguous()
        product = half * in_1
        wide = in_0.float() * 3
        product += in_1
        return (half, product, wide, in_1)
"""
    asked = Preparation(Contender.EAGER, source, Capture.DIRECT, Device.CPU)
    given = [torch.randn(8, 8, generator=torch.Generator().manual_seed(3)).bfloat16() for _ in range(2)]
    expected = called(building.prepared(asked, (), {}), given)
    call = building.prepared(replace(asked, moved=True), (), {})
    first, second = called(call, given), called(call, given)
    for kept in (0, 2, 3):
        assert torch.equal(first[kept], expected[kept])
    changes = (first[1].double() - expected[1].double()).abs()
    assert (changes > 0).double().mean() > 0.5
    assert not torch.equal(first[1], second[1]), "each call moves in another way"


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler for Inductor")
@pytest.mark.skipif(" " in torch.__file__, reason="torch does not quote its own path when it calls a C++ compiler")
@pytest.mark.parametrize("capture", list(Capture))
def test_inductor_computes_eagers_values_in_both_captures(
    capture: Capture, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    expected = called(prepared(Contender.EAGER, Capture.DIRECT), inputs)
    call = prepared(Contender.BASELINE, capture)
    for _ in range(2):
        given = called(call, inputs)
        for wanted, value in zip(expected, given, strict=True):
            torch.testing.assert_close(value, wanted)


CHAIN = """
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0 + in_0
        tmp_2 = tmp_1 * in_1
        return (tmp_2,)
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler for Inductor")
@pytest.mark.skipif(" " in torch.__file__, reason="torch does not quote its own path when it calls a C++ compiler")
@pytest.mark.parametrize("capture", list(Capture))
def test_inductor_rounds_intermediates_as_eager_does_where_that_is_the_baseline(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    given = [torch.randn(4096, generator=torch.Generator().manual_seed(each)).bfloat16() for each in range(2)]
    (eager,) = called(prepared(Contender.EAGER, Capture.DIRECT, CHAIN), given)
    asked = Preparation(Contender.BASELINE, CHAIN, capture, Device.CPU)
    by_default, rounding = (building.prepared(replace(asked, baseline=each), (), {}) for each in Baseline)
    (as_eager,) = called(rounding, given)
    assert torch.equal(as_eager, eager)
    (otherwise,) = called(by_default, given)
    assert not torch.equal(otherwise, eager), "the configuration of the other compilation is over"


def test_every_contender_draws_the_same_random_numbers(inputs: Inputs) -> None:
    source = SOURCE.replace("tmp_0 = in_0 + in_1", "tmp_0 = in_0 + torch.rand(3, 4)")
    eager = called(prepared(Contender.EAGER, Capture.DIRECT, source), inputs)
    again = called(prepared(Contender.EAGER, Capture.COMPILED, source), inputs)
    torch.testing.assert_close(eager, again, rtol=0, atol=0)


@pytest.mark.parametrize("line", ["torch.load('x')", "in_0.numpy()", "torch.hub.load('a', 'b')", "torch.os.getcwd()"])
def test_source_with_calls_that_are_no_operations_is_refused(line: str) -> None:
    with pytest.raises(BadInput):
        prepared(Contender.EAGER, Capture.DIRECT, SOURCE.replace("in_0 + in_1", line))


def test_only_the_rewritten_graph_may_call_replacements() -> None:
    with pytest.raises(BadInput):
        prepared(Contender.EAGER, Capture.DIRECT, SOURCE.replace("in_0 + in_1", "replacement_0(in_0, in_1)"))


def test_warm_up_calls_at_least_three_times(inputs: Inputs) -> None:
    calls: list[Inputs] = []
    timing.warm_up(calls.append, inputs, 0.0, Device.CPU)
    assert len(calls) == timing.LEAST_WARM_UP_CALLS


def test_the_kernels_of_a_trace_are_assigned_to_the_calls_in_order() -> None:
    # two calls of two kernels each, out of order as in a trace
    activities = [(30.0, 3.0), (0.0, 1.0), (40.0, 4.0), (10.0, 2.0)]
    assert timing.per_call(activities, 2) == [3.0, 7.0]
    assert timing.per_call(activities[:3], 2) == [4.0, 4.0]
    assert timing.per_call([], 2) == [0.0, 0.0]


LINEAR = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.linear(in_2, in_0, in_1)
        return (tmp_0,)
"""


def with_weights(
    prepare: Callable[[Any], object], *, weights: tuple[str, ...] = ("in_0", "in_1"), capture: Capture = Capture.DIRECT
) -> tuple[building.Prepared, list[object]]:
    """A linear layer whose replacement records the weight that it gets. Return the callable and these weights."""
    seen: list[object] = []

    def product(x: torch.Tensor, weight: Any, bias: torch.Tensor) -> torch.Tensor:
        seen.append(weight)
        return x @ weight["turned"] + bias if isinstance(weight, dict) else torch.nn.functional.linear(x, weight, bias)

    each = TracedPass(
        "linear",
        tracing.trace_pattern(lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias)),
        tracing.trace_arguments(lambda x, weight, bias: (x, weight, bias)),
        "replacement_0",
    )
    source = emit(rewrite(parse(LINEAR), [each], bind=bind).graph) if capture is Capture.DIRECT else LINEAR
    asked = Preparation(Contender.PASSES, source, capture, Device.CPU, weights=weights)
    hooks = {"replacement_0": modules.Hook(prepare, ("x", "weight", "bias"))}
    return building.prepared(asked, (each,), {"replacement_0": product}, hooks), seen


def test_a_hook_gets_the_weights_by_name_and_the_replacement_gets_its_results() -> None:
    x, weight, bias = torch.randn(5, 3), torch.randn(4, 3), torch.randn(4)
    asked: list[dict[str, torch.Tensor]] = []

    def prepare(weights: dict[str, torch.Tensor]) -> dict[str, object]:
        asked.append(weights)
        return {**weights, "weight": {"turned": weights["weight"].t()}}

    call, seen = with_weights(prepare)
    call.pack([weight, bias, x])
    assert list(asked[0]) == ["weight", "bias"]
    assert asked[0]["weight"] is weight
    expected = torch.nn.functional.linear(x, weight, bias)
    for _ in range(2):
        torch.testing.assert_close(call([weight, bias, x])[0], expected)
    assert len(asked) == 1, "prepare() is called once for all calls"
    assert isinstance(seen[0], dict)


def test_inputs_that_are_no_parameters_are_not_prepared() -> None:
    call, seen = with_weights(lambda weights: pytest.fail("called"), weights=())
    inputs = [torch.randn(4, 3), torch.randn(4), torch.randn(5, 3)]
    call.pack(inputs)
    call(inputs)
    assert seen[0] is inputs[0]


@pytest.mark.parametrize("made", [None, {}, {"weight": 1, "bias": 2, "more": 3}])
def test_a_hook_that_returns_something_else_is_told_what_to_return(made: object) -> None:
    call, _ = with_weights(lambda weights: made)
    with pytest.raises(TypeError, match="Return a dict with weight, bias"):
        call.pack([torch.randn(4, 3), torch.randn(4), torch.randn(5, 3)])


def test_hooks_are_refused_in_compiled_capture() -> None:
    with pytest.raises(BadInput, match="direct capture"):
        with_weights(lambda weights: weights, capture=Capture.COMPILED)
