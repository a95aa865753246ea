"""A call that overwrites what an earlier call returned."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong


def writing_into_one_buffer() -> Function:
    kept: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not kept:
            kept.append(torch.empty_like(a))
        return torch.clamp_min(a + b, 0, out=kept[0])

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "one buffer for all results": (writing_into_one_buffer(), Verdict.WRONG_VALUES),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])
