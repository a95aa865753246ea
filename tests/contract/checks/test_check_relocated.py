"""Results that hang on where the inputs lay."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, told_apart, verified


def first_inputs_only() -> Function:
    """As a recorded CUDA graph does: it reads where the inputs of the first call lay."""
    first: list[torch.Tensor] = []

    def replacement(a, b):
        if not first:
            first.extend((a, b))
        return torch.relu(first[0] + first[1])

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "addresses of the first call": (first_inputs_only(), Verdict.NON_FINITE),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    told_apart(*CHEATS[name])


def test_the_content_of_the_call_before_comes_again_at_another_address() -> None:
    seen: dict[bytes, int] = {}

    def replacement(a, b):
        first = seen.setdefault(a.numpy().tobytes(), a.data_ptr())
        return torch.relu(a + b) if first == a.data_ptr() else torch.zeros_like(a)

    found = verified(replacement)
    assert found.verdict is Verdict.WRONG_VALUES
    assert "typical inputs, at another address" in found.reason
