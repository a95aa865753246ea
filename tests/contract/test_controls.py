"""Negative controls on outputs too large to be looked at as a whole."""

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from passnet_core.judge import comparing, controls  # noqa: E402
from passnet_core.judge.candidacy import Returned  # noqa: E402
from passnet_core.judge.controls import Controls  # noqa: E402
from tests.contract.test_comparing import noise, produced  # noqa: E402

SIZE = 20 * controls.SAMPLE
PLACE = 17 * controls.SAMPLE + 5


def problem_of(eager: torch.Tensor, given: torch.Tensor | None = None) -> str:
    """What no computation is needed for, where eager returns this, of this input."""
    looked = Controls(["in_0"], 1)
    inputs = [] if given is None else [given]
    exact = Returned((produced(eager.double()),), "tuple", 0.0) if eager.is_floating_point() else None
    looked.see(inputs, Returned((produced(eager),), "tuple", 0.0), exact)
    return looked.problem


def with_one(value: torch.Tensor, at: int, other: float) -> torch.Tensor:
    changed = value.clone()
    changed[at] = other
    return changed


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64"])
def test_one_element_that_has_to_be_computed_is_found_among_many(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "SLICE", {"cpu": SIZE // 7})
    zeros = torch.zeros(SIZE, dtype=getattr(torch, dtype))
    assert "return zeros" in problem_of(zeros)
    assert "return zeros" not in problem_of(with_one(zeros, PLACE, 3))


def test_an_input_that_is_returned_but_for_one_element_is_no_control() -> None:
    given = noise(SIZE)
    assert "return in_0" in problem_of(given, given)
    assert "return in_0" not in problem_of(with_one(given, PLACE, 100.0), given)


@pytest.mark.parametrize(
    ("change", "counts"),
    [(lambda value: value * (1 + 2e-7), True), (lambda value: value * 1.5, False)],
    ids=["rounding", "another value"],
)
def test_an_input_that_is_nearly_returned_is_a_control_as_far_as_rounding_goes(
    change: Callable[[torch.Tensor], torch.Tensor], counts: bool
) -> None:
    given = noise(SIZE)
    assert ("return in_0" in problem_of(change(given), given)) is counts


def test_suspects_are_all_that_is_off_and_few_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "SLICE", {"cpu": 1000})
    eager = noise(10_000)
    references = comparing.References(produced(eager), produced(eager.double()))
    off = eager.clone()
    off[[3, 999, 1000, 9_999]] += 1
    assert comparing.suspects(references, off, 100).tolist() == [3, 999, 1000, 9_999]
    many = comparing.suspects(references, eager + 1, 100)
    assert 90 <= many.numel() <= 110
    assert int(many.max()) >= 9_000
    assert comparing.suspects(references, eager, 100).tolist() == []
    numbers = torch.complex(eager, eager)
    asked = comparing.References(produced(numbers), produced(numbers.to(torch.complex128)))
    assert comparing.suspects(asked, torch.complex(eager, off), 100).tolist() == [3, 999, 1000, 9_999]
