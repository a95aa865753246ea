"""NaN and infinity where eager has none."""

import ctypes
import math

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong, verified

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: torch.relu(a + b) * float("nan"), Verdict.NON_FINITE, "nan"),
    ],
)
def test_the_reason_says_how_a_replacement_is_wrong(replacement: Function, verdict: Verdict, said: str) -> None:
    assert_wrong(replacement, verdict, said)


def first_inputs_only() -> Function:
    """Like a recorded CUDA graph, read from the addresses of the first call's inputs."""
    first: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not first:
            first.extend((a, b))
        return torch.relu(first[0] + first[1])

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "NaN as a wildcard": (lambda a, b: torch.full_like(a, math.nan), Verdict.NON_FINITE),
    "infinity": (lambda a, b: torch.relu(a + b) + torch.inf, Verdict.NON_FINITE),
    "addresses of the first call": (first_inputs_only(), Verdict.NON_FINITE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])


@pytest.mark.parametrize("rows", [-1, 4])
def test_reads_beside_an_input_always_get_nan(rows: int) -> None:
    def reading_on(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        memory = ctypes.string_at(a.data_ptr() + rows * 33 * a.element_size(), 33 * a.element_size())
        beside = torch.frombuffer(bytearray(memory), dtype=a.dtype)
        return torch.relu(torch.cat((a[:3], beside[None] * 0)) + b)

    for _ in range(5):
        found = verified(reading_on)
        assert found.verdict is Verdict.NON_FINITE, found.reason
