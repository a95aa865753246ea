"""Passes that compute in another way when they are watched."""

from typing import Any

import pytest
import torch

from passnet_core.judge.protocol.messages import Returned
from passnet_core.records import Verdict
from tests.contract.verifying import Here, relu_of_sum, verified

pytestmark = pytest.mark.settled


class Watching(Here):
    """A candidate worker whose replacement knows whether its call is watched."""

    knows = False

    def run(self, name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any) -> Returned:
        Watching.knows = watched
        return super().run(name, fresh=fresh, watched=watched, idle=idle)


def test_other_bits_in_a_call_that_is_not_watched_are_found() -> None:
    def behaves_when_watched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        total = a + b
        return torch.relu(total) if Watching.knows else torch.relu(total * (1 + 2**-23))

    found = verified(behaves_when_watched, candidate=Watching())
    assert found.verdict is Verdict.WRONG_VALUES, found.reason
    assert "a second call with the same inputs gave different values" in found.reason


def test_the_same_bits_in_both_calls_are_right() -> None:
    assert verified(relu_of_sum, candidate=Watching()).verdict is Verdict.VALUES_ONLY
