"""A coarser dtype inside than was asked for."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, told_apart


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: torch.relu(a.half() + b.half()).float(), Verdict.LOWER_PRECISION, "less precise"),
        (lambda a, b: torch.relu(a.bfloat16() + b).float(), Verdict.LOWER_PRECISION, "less precise"),
    ],
)
def test_a_wrong_replacement_is_told_how_and_where(replacement: Function, verdict: Verdict, said: str) -> None:
    told_apart(replacement, verdict, said)


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "bfloat16 inside": (lambda a, b: torch.relu(a.bfloat16() + b.bfloat16()).float(), Verdict.LOWER_PRECISION),
    "half precision inside": (lambda a, b: torch.relu(a.half() + b).half().float(), Verdict.LOWER_PRECISION),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    told_apart(*CHEATS[name])
