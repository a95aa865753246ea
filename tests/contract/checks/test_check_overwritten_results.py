"""A call that overwrites what an earlier call returned."""

import weakref

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong, verified

pytestmark = pytest.mark.settled


def writing_into_one_buffer() -> Function:
    kept: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not kept:
            kept.append(torch.empty_like(a))
        return torch.clamp_min(a + b, 0, out=kept[0])

    return replacement


def lending_while_views_live() -> Function:
    """Lends out memory again when the tensor that it returned is gone, although views of it may live."""
    pool: list[tuple[torch.Tensor, weakref.ref[torch.Tensor]]] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        memory = next((memory for memory, lent in pool if lent() is None), None)
        if memory is None:
            memory = torch.empty(a.numel())
        out = memory.view(a.shape)
        pool[:] = [each for each in pool if each[0] is not memory] + [(memory, weakref.ref(out))]
        torch.add(a, b, out=out)
        out.clamp_min_(0)
        return out

    return replacement


def returning_what_it_had_returned() -> Function:
    """Returns the same memory again for the same inputs, without writing to it."""
    known: list[tuple[torch.Tensor, torch.Tensor]] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        total = a + b
        for inputs, result in known:
            if torch.equal(inputs, total):
                return result
        known.append((total, torch.relu(total)))
        return known[-1][1]

    return replacement


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "one buffer for all results": (writing_into_one_buffer(), Verdict.WRONG_VALUES),
    "memory lent out while views live": (lending_while_views_live(), Verdict.WRONG_VALUES),
    "one result for equal inputs": (returning_what_it_had_returned(), Verdict.WRONG_VALUES),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name], "overwrote what an earlier call had returned, or returned the same memory again")


def test_scratch_memory_may_be_kept_between_calls() -> None:
    scratch: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not scratch:
            scratch.append(torch.empty_like(a))
        torch.add(a, b, out=scratch[0])
        return torch.relu(scratch[0])

    found = verified(replacement)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
