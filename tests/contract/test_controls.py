"""Negative controls, on small outputs and on outputs that are compared slice by slice."""

from collections.abc import Callable, Iterable

import pytest
import torch

from passnet_core.judge.numerics import comparing, elements, negative_controls
from passnet_core.judge.numerics.negative_controls import NegativeControls
from passnet_core.judge.protocol.messages import Produced, Returned
from tests.contract.test_comparing import noise, produced

SIZE = 20 * negative_controls.SAMPLE
PLACE = 17 * negative_controls.SAMPLE + 5


def problem_of(
    eager: torch.Tensor | float,
    given: torch.Tensor | None = None,
    *,
    exact: torch.Tensor | None = None,
    perturbed: Callable[[int], Callable[[], Iterable[Produced]]] = lambda index: tuple,
) -> str:
    """Which negative controls pass if eager returns this for this input."""
    looked = NegativeControls(["in_0"], 1)
    inputs = [] if given is None else [given]
    if exact is None and isinstance(eager, torch.Tensor) and eager.is_floating_point():
        exact = eager.double()
    precise = None if exact is None else Returned((produced(exact),), "tuple", 0.0)
    strides = {"strides": tuple(eager.stride())} if isinstance(eager, torch.Tensor) else {}
    looked.see(inputs, Returned((produced(eager, **strides),), "tuple", 0.0), precise, perturbed=perturbed)
    return looked.problem


def with_one(value: torch.Tensor, at: int | slice, other: float) -> torch.Tensor:
    changed = value.clone()
    changed[at] = other
    return changed


@pytest.mark.parametrize(
    "one", [torch.tensor(3.5), torch.full((1, 1), 3.5), torch.tensor(7), torch.tensor(3.5).expand(2, 3), 3.5, 7]
)
def test_the_mean_of_one_number_proves_nothing(one: torch.Tensor | float) -> None:
    assert problem_of(one) == ""


def test_several_equal_elements_are_their_mean() -> None:
    assert problem_of(torch.full((4,), 3.5)) == "output 0: return its mean everywhere"


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64"])
def test_zeros_do_not_pass_if_one_of_many_elements_is_not_zero(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "SLICE", {"cpu": SIZE // 7})
    zeros = torch.zeros(SIZE, dtype=getattr(torch, dtype))
    assert "return zeros" in problem_of(zeros)
    assert "return zeros" not in problem_of(with_one(zeros, PLACE, 3))


def test_an_input_does_not_pass_if_one_of_many_elements_differs() -> None:
    given = noise(SIZE)
    assert "return in_0" in problem_of(given, given)
    assert "return in_0" not in problem_of(with_one(given, PLACE, 100.0), given)


@pytest.mark.parametrize(
    ("change", "counts"),
    [(lambda value: value * (1 + 2e-7), True), (lambda value: value * 1.01, False)],
    ids=["rounding", "another value"],
)
def test_an_input_passes_if_only_rounding_changes_it(
    change: Callable[[torch.Tensor], torch.Tensor], counts: bool
) -> None:
    given = noise(SIZE)
    assert ("return in_0" in problem_of(change(given), given)) is counts


@pytest.mark.parametrize("size", [1000, SIZE])
def test_zeros_do_not_pass_although_eager_computes_coarsely(size: int) -> None:
    exact = noise(size).double() + 3
    coarse = (exact * (1 + 1e-3 * noise(size, seed=2))).float()  # as TF32 does in a convolution of float32
    assert problem_of(coarse, exact=exact) == ""


def test_zeros_do_not_pass_for_small_values_although_they_are_close_at_some_t() -> None:
    small = (noise(1000).abs() + 1).bfloat16() * 1e-4
    assert comparing.compare(comparing.References(produced(small)), produced(small * 0)).verdict is None
    assert problem_of(small) == ""


def test_a_control_passes_if_perturbed_inputs_explain_its_error() -> None:
    exact = noise(1000).double()
    asked: list[int] = []

    def perturbed(index: int) -> Callable[[], list[Produced]]:
        asked.append(index)
        return lambda: [produced(exact * (1 + 1e-4))]

    given = (exact * (1 + 1e-4)).float()
    assert problem_of(exact.float(), given, perturbed=perturbed) == "output 0: return in_0"
    assert problem_of(exact.float(), given) == ""
    assert asked == [0]


def test_suspects_are_all_wrong_elements_or_a_sample_if_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "SLICE", {"cpu": 1000})
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


@pytest.mark.parametrize(("number", "counts"), [(5, True), (500, False)])
def test_zeros_pass_if_only_a_few_ones_differ_and_rounding_tips_them(number: int, counts: bool) -> None:
    ones = with_one(torch.zeros(SIZE, dtype=torch.int64), slice(PLACE, PLACE + number), 1)
    nearby = produced(torch.zeros_like(ones))
    problem = problem_of(ones, exact=ones.clone(), perturbed=lambda index: lambda: (nearby,))
    assert ("return zeros" in problem) is counts
