"""Returns of another form than eager's."""

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
        (lambda a, b: torch.relu(a + b).double(), Verdict.WRONG_TYPE, "dtype is float64"),
        (lambda a, b: torch.relu(a + b)[None], Verdict.WRONG_SHAPE, r"shape is \[1, 4, 33\]"),
        (lambda a, b: (torch.relu(a + b), a)[0].tolist(), Verdict.WRONG_TYPE, "list"),
    ],
)
def test_the_reason_says_how_a_replacement_is_wrong(replacement: Function, verdict: Verdict, said: str) -> None:
    assert_wrong(replacement, verdict, said)


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "a shape that broadcasts": (lambda a, b: torch.relu(a + b)[:1], Verdict.WRONG_SHAPE),
    "upcast": (lambda a, b: torch.relu(a.double() + b.double()), Verdict.WRONG_TYPE),
    "complex": (lambda a, b: torch.relu(a + b).to(torch.complex64), Verdict.WRONG_TYPE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])
