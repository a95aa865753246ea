"""VERIFY as a whole: the calls it makes, whom it blames for a failure, and what honest passes may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from passnet_core.judge.numerics.input_draws import INPUT_DRAWS
from passnet_core.judge.protocol.messages import (
    CandidateFault,
)
from passnet_core.records import (
    Capture,
    EvalSpec,
    Profile,
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, subgraph
from tests.contract.verifying import Function, Here, clearing_its_input, relu_of_sum, remembering, traced, verified

pytestmark = pytest.mark.settled

HONEST: dict[str, Function] = {
    "caches by content": remembering(lambda a, b: (a.numpy().tobytes(), b.numpy().tobytes())),
    "scratch that it keeps": (lambda scratch: lambda a, b: torch.relu(torch.add(a, b, out=scratch)).clone())(
        torch.empty(4, 33)
    ),
    "empty, then filled": lambda a, b: torch.empty_like(a).copy_(torch.relu(a + b)),
    "in place on its own": lambda a, b: torch.add(a, b).relu_(),
    "half of a larger buffer": lambda a, b: torch.empty(4, 66)[:, :33].copy_(torch.relu(a + b)),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_right_replacement_is_right_on_all_six_input_draws(dtype: str) -> None:
    found = verified(relu_of_sum, subgraph(dtype=dtype))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.accuracy is not None
    assert set(INPUT_DRAWS) <= set(found.accuracy.profiles)
    assert found.accuracy.smallest_t == -10
    assert found.accuracy.reduced == ""
    assert found.warnings == ()


def test_passnets_profile_compares_only_the_recorded_input_draw() -> None:
    found = verified(relu_of_sum, spec=EvalSpec(profile=Profile.PASSNET))
    assert found.accuracy is not None
    assert found.accuracy.profiles == ("recorded",)


def test_only_the_first_call_compiles() -> None:
    compiling: list[bool] = []
    calls: list[bool] = []

    @contextmanager
    def noted() -> Iterator[None]:
        compiling.append(True)
        yield
        compiling.pop()

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        calls.append(bool(compiling))
        return torch.relu(a + b)

    found = verified(replacement, compiling=noted)
    assert found.verdict is Verdict.VALUES_ONLY
    assert calls[0]
    assert found.accuracy is not None
    assert len(calls) == len(found.accuracy.profiles) >= len(INPUT_DRAWS)
    assert not any(calls[1:])


def test_both_captures_are_verified() -> None:
    found = verified(relu_of_sum, spec=EvalSpec(capture=Capture.COMPILED))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


def test_eagers_own_failure_is_not_the_candidates() -> None:
    broken = subgraph(code=ADD_RELU.replace("in_0 + in_1", "in_0 + in_1.view(7)"))
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    found = verified(torch.relu, broken, a_pass=a_pass)
    assert found.verdict is Verdict.EAGER_FAILED
    assert "invalid for input" in found.reason


def test_a_subgraph_with_a_refused_operation_is_not_run() -> None:
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    found = verified(torch.relu, subgraph(code=ADD_RELU.replace("in_0 + in_1", "torch.load(in_0)")), a_pass=a_pass)
    assert found.verdict is Verdict.EAGER_FAILED
    assert "torch.load" in found.reason


def test_a_fault_of_the_candidate_passes_through() -> None:
    def broken(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no such kernel")

    with pytest.raises(CandidateFault, match="no such kernel"):
        verified(broken)


def test_integer_inputs_that_index_stay_in_range() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, ids, table):
        a = torch.nn.functional.embedding(ids, table, None, None, 2.0, False, False)
        b = a * 2.0
        return b
"""
    inputs = (TensorSpec("ids", (2, 5), "int64"), TensorSpec("table", (7, 4), "float32", mean=0.0, std=1.0))
    asked = replace(subgraph(code=code), inputs=inputs)
    doubled = traced(lambda a: a * 2.0, lambda a: (a,))
    found = verified(lambda a: a + a, asked, a_pass=doubled)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.warnings == ()


@pytest.mark.parametrize("name", HONEST)
def test_honest_habits_are_right(name: str) -> None:
    found = verified(HONEST[name])
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


def test_passnets_profile_requires_only_closeness() -> None:
    spec = EvalSpec(profile=Profile.PASSNET)
    worker = Here()
    assert verified(lambda a, b: torch.relu(a.half() + b.half()).float(), spec=spec, candidate=worker).verdict in (
        Verdict.VALUES_ONLY,
        Verdict.WRONG_VALUES,
    )
    assert len(worker.ran) == 1
    close = verified(lambda a, b: torch.relu(a + b) * (1 + 1e-5), spec=spec)
    assert close.verdict is Verdict.VALUES_ONLY, close.reason
    assert close.warnings == ()
    assert verified(lambda a, b: torch.relu(a + b) + 0.01, spec=spec).verdict is Verdict.WRONG_VALUES
    assert verified(clearing_its_input, spec=spec).verdict is Verdict.VALUES_ONLY
