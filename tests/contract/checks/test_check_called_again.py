"""Buffers that calls share for as long as weights stay prepared."""

from dataclasses import replace

import pytest
import torch

from passnet_core.fx.modules import Hook
from passnet_core.records import Verdict
from tests.contract.judging import subgraph
from tests.contract.verifying import Function, traced, verified

pytestmark = pytest.mark.settled


def test_buffers_must_not_live_as_long_as_prepared_weights() -> None:
    first, second = subgraph().inputs
    asked = replace(subgraph(), inputs=(first, replace(second, original_name="L_self_parameters_weight_")))
    hook = Hook(lambda weights: {"b": (weights["b"], [])}, ("", "b"))
    a_pass = traced(lambda a, b: torch.nn.functional.relu(a + b), lambda a, b: (a, b))

    def taking_turns(count: int) -> Function:
        def replacement(a: torch.Tensor, prepared: tuple[torch.Tensor, list[torch.Tensor]]) -> torch.Tensor:
            b, places = prepared
            if len(places) < count:
                places.insert(0, torch.empty_like(a))
            places.append(places.pop(0))
            return torch.add(a, b, out=places[-1]).clamp_min_(0)

        return replacement

    for count in (1, 2, 3):
        found = verified(taking_turns(count), asked, a_pass=a_pass, hook=hook)
        assert found.verdict is Verdict.WRONG_VALUES, count
        assert "returned the same memory again" in found.reason
    honest = verified(lambda a, prepared: torch.relu(a + prepared[0]), asked, a_pass=a_pass, hook=hook)
    assert honest.verdict is Verdict.VALUES_ONLY, honest.reason
