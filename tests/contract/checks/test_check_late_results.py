"""Outputs that are unfinished when the stream of the call is done."""

from dataclasses import replace
from typing import Any

import pytest

from passnet_core.judge.protocol.messages import (
    Returned,
)
from passnet_core.records import (
    EvalSpec,
    Profile,
    Verdict,
)
from tests.contract.verifying import Here, relu_of_sum, verified

pytestmark = pytest.mark.settled


def test_an_output_that_comes_late_is_wrong_and_named() -> None:
    worker = Here()
    run = worker.run

    def late(name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any) -> Returned:
        return replace(run(name, fresh=fresh), late=(0,))

    worker.run = late  # type: ignore[method-assign]
    found = verified(relu_of_sum, candidate=worker)
    assert found.verdict is Verdict.WRONG_VALUES
    assert found.reason.startswith("Output 0 is wrong on recorded inputs: it was not complete")
    replayed = verified(relu_of_sum, candidate=worker, spec=EvalSpec(profile=Profile.PASSNET))
    assert replayed.verdict is Verdict.VALUES_ONLY
