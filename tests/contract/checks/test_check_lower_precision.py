"""Computing in a coarser dtype than the inputs have."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: torch.relu(a.half() + b.half()).float(), Verdict.LOWER_PRECISION, "less precise"),
        (lambda a, b: torch.relu(a.bfloat16() + b).float(), Verdict.LOWER_PRECISION, "less precise"),
    ],
)
def test_the_reason_says_how_a_replacement_is_wrong(replacement: Function, verdict: Verdict, said: str) -> None:
    assert_wrong(replacement, verdict, said)


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "bfloat16 inside": (lambda a, b: torch.relu(a.bfloat16() + b.bfloat16()).float(), Verdict.LOWER_PRECISION),
    "half precision inside": (lambda a, b: torch.relu(a.half() + b).half().float(), Verdict.LOWER_PRECISION),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])
