"""Results that depend on the addresses of the inputs."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong, verified

pytestmark = pytest.mark.settled


def first_inputs_only() -> Function:
    """Like a recorded CUDA graph, read from the addresses of the first call's inputs."""
    first: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not first:
            first.extend((a, b))
        return torch.relu(first[0] + first[1])

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "addresses of the first call": (first_inputs_only(), Verdict.NON_FINITE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])


def test_the_previous_inputs_come_again_at_another_address() -> None:
    seen: dict[bytes, int] = {}

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        first = seen.setdefault(a.numpy().tobytes(), a.data_ptr())
        return torch.relu(a + b) if first == a.data_ptr() else torch.zeros_like(a)

    found = verified(replacement)
    assert found.verdict is Verdict.WRONG_VALUES
    assert "typical inputs, at another address" in found.reason
