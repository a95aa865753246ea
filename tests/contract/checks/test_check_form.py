"""Returns that only resemble eager's."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, told_apart


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: torch.relu(a + b).double(), Verdict.WRONG_TYPE, "dtype is float64"),
        (lambda a, b: torch.relu(a + b)[None], Verdict.WRONG_SHAPE, r"shape is \[1, 4, 33\]"),
        (lambda a, b: (torch.relu(a + b), a)[0].tolist(), Verdict.WRONG_TYPE, "list"),
    ],
)
def test_a_wrong_replacement_is_told_how_and_where(replacement: Function, verdict: Verdict, said: str) -> None:
    told_apart(replacement, verdict, said)


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "a shape that broadcasts": (lambda a, b: torch.relu(a + b)[:1], Verdict.WRONG_SHAPE),
    "upcast": (lambda a, b: torch.relu(a.double() + b.double()), Verdict.WRONG_TYPE),
    "complex": (lambda a, b: torch.relu(a + b).to(torch.complex64), Verdict.WRONG_TYPE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    told_apart(*CHEATS[name])
