"""Sizes for Triton's interpreter: reduced only if time is short."""

from dataclasses import dataclass

import pytest
import torch

from passnet_core.graphs.source import parse
from passnet_core.judge.protocol.messages import (
    Returned,
)
from passnet_core.judge.stages import sizes, verify_session
from passnet_core.judge.stages.findings import Verification
from passnet_core.records import (
    Subgraph,
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, subgraph
from tests.contract.verifying import Here, relu_of_sum, traced, verified


class Slow(Here):
    """A candidate that takes time for each element, by the test's clock."""

    def __init__(self, clock: "Clockwork", seconds_per_element: float) -> None:
        super().__init__()
        self.clock, self.seconds_per_element = clock, seconds_per_element

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        returned = super().run(name, fresh=fresh)
        elements = sum(each.numel() for each in self.inputs if isinstance(each, torch.Tensor))
        self.clock.now += elements * self.seconds_per_element
        return returned


@dataclass
class Clockwork:
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


def slowly(monkeypatch: pytest.MonkeyPatch, seconds_per_element: float, asked: Subgraph) -> tuple[Verification, Slow]:
    clock = Clockwork()
    monkeypatch.setattr(sizes, "time", clock)
    monkeypatch.setattr(verify_session, "time", clock)
    worker = Slow(clock, seconds_per_element)
    return verified(relu_of_sum, asked, candidate=worker), worker


def test_sizes_are_reduced_only_if_the_recorded_ones_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = subgraph((64, 48, 32))
    quick, worker = slowly(monkeypatch, 1e-9, asked)
    assert quick.accuracy is not None
    assert quick.accuracy.reduced == ""
    assert worker.given[-1] == [(64, 48, 32)] * 2
    slow, worker = slowly(monkeypatch, 4e-5, asked)
    assert slow.verdict is Verdict.VALUES_ONLY, slow.reason
    assert slow.accuracy is not None
    assert "[64, 48, 32] → [16, 48, 32]" in slow.accuracy.reduced
    assert slow.accuracy.reduced in slow.warnings
    assert worker.given[-1] == [(16, 48, 32)] * 2
    assert len(slow.accuracy.profiles) == 6


def test_sizes_that_cannot_be_reduced_leave_out_input_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = ADD_RELU.replace("in_0 + in_1", "in_0.view(98304) + in_1.view(98304)")
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    clock = Clockwork()
    monkeypatch.setattr(sizes, "time", clock)
    monkeypatch.setattr(verify_session, "time", clock)
    found = verified(torch.relu, subgraph((64, 48, 32), code=fixed), a_pass=a_pass, candidate=Slow(clock, 1e-4))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.accuracy is not None
    assert found.accuracy.profiles == ("recorded",)
    assert "left out: typical" in found.accuracy.reduced


def test_slow_subgraphs_leave_out_calls_in_place_before_input_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = ADD_RELU.replace("in_0 + in_1", "in_0.view(98304) + in_1.view(98304)")
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    clock = Clockwork()
    monkeypatch.setattr(sizes, "time", clock)
    monkeypatch.setattr(verify_session, "time", clock)
    found = verified(torch.relu, subgraph((64, 48, 32), code=fixed), a_pass=a_pass, candidate=Slow(clock, 3e-5))
    assert found.accuracy is not None
    assert len(found.accuracy.profiles) == 6
    assert any("changed in place were left out" in warning for warning in found.warnings)


def test_smaller_sizes_keep_the_computation_valid() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, x, weight, bias):
        a = torch.nn.functional.layer_norm(x, (768,), weight, bias, 1e-05)
        b = a.transpose(1, 2)
        return (b,)
"""
    specs = (
        TensorSpec("x", (32, 197, 768), "float32"),
        TensorSpec("weight", (768,), "float32"),
        TensorSpec("bias", (768,), "float32"),
    )
    steps = sizes.smaller(parse(code), specs, {})
    assert [step.shapes[0][-1] for step in steps] == [768] * len(steps)
    assert steps[-1].elements <= sizes.PROBE_ELEMENTS
    elements = [step.elements for step in steps]
    assert elements == sorted(elements, reverse=True)
    assert torch.is_grad_enabled()
