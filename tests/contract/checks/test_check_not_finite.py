"""NaN and infinity where eager has none."""

import math

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, told_apart, verified


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: torch.relu(a + b) * float("nan"), Verdict.NON_FINITE, "nan"),
    ],
)
def test_a_wrong_replacement_is_told_how_and_where(replacement: Function, verdict: Verdict, said: str) -> None:
    told_apart(replacement, verdict, said)


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "NaN as a wildcard": (lambda a, b: torch.full_like(a, math.nan), Verdict.NON_FINITE),
    "infinity": (lambda a, b: torch.relu(a + b) + torch.inf, Verdict.NON_FINITE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    told_apart(*CHEATS[name])


@pytest.mark.parametrize("rows", [-1, 4])
def test_who_reads_beside_an_input_always_gets_what_is_no_data(rows: int) -> None:
    def reading_on(a, b):
        beside = torch.empty(0).set_(a.untyped_storage(), a.storage_offset() + rows * 33, (33,))
        return torch.relu(torch.cat((a[:3], beside[None] * 0)) + b)

    for _ in range(5):
        found = verified(reading_on)
        assert found.verdict is Verdict.NON_FINITE, found.reason
