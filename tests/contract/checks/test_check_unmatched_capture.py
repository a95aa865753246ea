"""Passes that match nothing in what torch.compile captured."""

from dataclasses import replace

import pytest

from passnet_core.judge.protocol.messages import (
    CandidateFault,
    Returned,
)
from passnet_core.records import (
    Capture,
    EvalSpec,
)
from tests.contract.verifying import Here, relu_of_sum, verified

pytestmark = pytest.mark.settled


def test_a_capture_in_which_nothing_matches_is_a_failed_rewrite() -> None:
    worker = Here()
    run = worker.run

    def unmatched(name: str) -> Returned:
        return replace(run(name), matches=0)

    worker.run = unmatched  # type: ignore[method-assign]
    with pytest.raises(CandidateFault, match=r"torch\.compile") as ended:
        verified(relu_of_sum, spec=EvalSpec(capture=Capture.COMPILED), candidate=worker)
    assert ended.value.kind == "rewrite"
