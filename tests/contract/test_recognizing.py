"""The arguments of a call are recognized as those of the last one by all that a plan depends on."""

import weakref
from typing import Any

import pytest

pytest.importorskip("triton")

import torch

from passnet_core.judge.plan.execute import question
from passnet_core.judge.plan.on_gpu import recognizer

X = torch.arange(32.0).reshape(8, 4)
SHIFTED = torch.arange(33.0)[1:]
OTHERS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "shape": ((X,), (X[:4],)),
    "strides": ((X,), (torch.arange(32.0).reshape(4, 8).t(),)),
    "dtype": ((X,), (X.int(),)),
    "alignment": ((X.reshape(-1),), (SHIFTED,)),
    "alignment, the other way round": ((SHIFTED,), (X.reshape(-1),)),
    "another number": ((X, 3), (X, 4)),
    "a truth value": ((X, 1), (X, True)),
    "a decimal": ((X, 1), (X, 1.0)),
    "the sign of zero": ((X, 0.0), (X, -0.0)),
    "none": ((X, None), (X, 0)),
    "a word": ((X, "a"), (X, "b")),
    "a list": ((X, [1, 2]), (X, [1, 3])),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_plan_depends_on_is_looked_at(name: str) -> None:
    one, other = OTHERS[name]
    assert question("f", one) != question("f", other)
    assert not recognizer(one)(*other)
    if name != "a list":
        again = tuple(
            torch.empty_strided(each.shape, each.stride(), dtype=each.dtype) if each is X else each for each in one
        )
        assert recognizer(one)(*again)


def test_what_is_recognized_is_not_kept() -> None:
    given = torch.zeros(3)
    known, alive = recognizer((given, 1)), weakref.ref(given)
    del given
    assert alive() is None
    assert known(torch.ones(3), 1)
