"""A call that overwrites what an earlier one returned."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, told_apart


def writing_into_one_buffer() -> Function:
    kept: list[torch.Tensor] = []

    def replacement(a, b):
        if not kept:
            kept.append(torch.empty_like(a))
        return torch.clamp_min(a + b, 0, out=kept[0])

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "one buffer for all results": (writing_into_one_buffer(), Verdict.WRONG_VALUES),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    told_apart(*CHEATS[name])
