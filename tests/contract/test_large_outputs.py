"""A large output is compared slice by slice, with the same result as in one piece."""

from collections.abc import Callable
from dataclasses import astuple, replace

import pytest
import torch

from passnet_core.judge.numerics import elements
from passnet_core.judge.numerics.comparing import References, compare
from passnet_core.judge.protocol.reference_bench import OutputDifference
from passnet_core.records import Verdict
from tests.contract.test_comparing import INF, NAN, noise, produced

pytestmark = pytest.mark.settled

SIZE = 1000

Outputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""(eager, float64, the candidate's output)."""
Case = Callable[[str], tuple[torch.Tensor, torch.Tensor | None, torch.Tensor]]
"""Makes these outputs in a dtype, with or without float64."""


def rounded(dtype: str) -> Outputs:
    """Outputs that are all finite, of which the candidate's is rounded differently."""
    x = noise(10, SIZE // 10, dtype=dtype, scale=4.0)
    exact = torch.nn.functional.gelu(x.double())
    return torch.nn.functional.gelu(x), exact, (exact * (1 + 1e-7)).to(x.dtype)


def with_some_not_finite(dtype: str) -> Outputs:
    eager, exact, actual = rounded(dtype)
    for value in (eager, exact, actual):
        value[2, 5], value[7, 1], value[9, 99] = NAN, INF, -INF
    return eager, exact, actual


def with_one_wrong(dtype: str) -> Outputs:
    eager, exact, actual = rounded(dtype)
    actual[6, 61] += 3
    return eager, exact, actual


def with_one_not_a_number(dtype: str) -> Outputs:
    eager, exact, actual = rounded(dtype)
    actual[0, 3] = NAN
    return eager, exact, actual


def coarse(dtype: str) -> Outputs:
    eager, exact, _ = rounded(dtype)
    units = 3 * elements.SLACK_UNITS[eager.dtype]
    return eager, exact, (exact * (1 + units * torch.finfo(eager.dtype).eps)).to(eager.dtype)


def equal(dtype: str) -> Outputs:
    eager, exact, _ = rounded(dtype)
    return eager, exact, eager.clone()


def without_exact(dtype: str) -> tuple[torch.Tensor, None, torch.Tensor]:
    eager, _, actual = rounded(dtype)
    return eager, None, actual


def complex_numbers(dtype: str) -> Outputs:
    eager, exact, actual = rounded("float32")
    eager, exact, actual = (torch.complex(value, value.flip(0)) for value in (eager, exact, actual))
    return eager, exact, actual


def whole_numbers(dtype: str) -> Outputs:
    eager = noise(SIZE, scale=50.0).long()
    return eager, eager.double(), eager.clone()


def a_wrong_whole_number(dtype: str) -> Outputs:
    eager, exact, actual = whole_numbers(dtype)
    actual[SIZE - 1] += 1
    return eager, exact, actual


def truths(dtype: str) -> Outputs:
    eager = noise(SIZE) > 0
    return eager, eager.double(), eager.clone()


CASES: tuple[Case, ...] = (
    rounded, with_some_not_finite, with_one_wrong, with_one_not_a_number, coarse, equal, without_exact,
    complex_numbers, whole_numbers, a_wrong_whole_number, truths,
)  # fmt: skip
ALL_RIGHT = {rounded, with_some_not_finite, equal, without_exact, complex_numbers, whole_numbers, truths}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_comparing_in_slices_changes_nothing(case: Case, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    eager, exact, actual = case(dtype)
    references = References(produced(eager), None if exact is None else produced(exact))

    def said() -> OutputDifference:
        return compare(references, produced(actual))

    whole = said()
    monkeypatch.setattr(elements, "SLICE", {"cpu": 77})
    sliced = said()
    if whole.mean_error is not None:
        assert sliced.mean_error == pytest.approx(whole.mean_error, rel=1e-12)
    # as text, because NaN does not equal itself
    assert repr(astuple(replace(sliced, mean_error=0.0))) == repr(astuple(replace(whole, mean_error=0.0)))
    assert (whole.verdict is None) == (case in ALL_RIGHT)


def test_a_wrong_element_of_a_large_output_is_found_in_any_slice() -> None:
    eager = noise(8 * elements.SLICE["cpu"])
    actual = eager.clone()
    place = elements.SLICE["cpu"] * 3 + 1
    actual[place] = 100.0
    found = compare(References(produced(eager), produced(eager.double())), produced(actual))
    assert (found.verdict, found.index) == (Verdict.WRONG_VALUES, (place,))
