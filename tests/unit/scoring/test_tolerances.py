"""The tolerances are GraphNet's, to the printed digit at t = -5 and by their formula elsewhere."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passnet_core.scoring.tolerances import EXACT, EXPONENTS, tolerance


@pytest.mark.parametrize(
    ("dtype", "atol", "rtol"),
    [
        ("float16", 1e-5, 1e-3),
        ("bfloat16", 1e-5, 1.6e-2),
        ("float32", 1e-5, 1.3e-6),
        ("complex64", 1e-5, 1.3e-6),
        ("qint8", 1e-5, 1.3e-6),
        ("float64", 1e-7, 1e-7),
        ("complex128", 1e-7, 1e-7),
        ("complex32", 1e-5, 1e-3),
    ],
)
def test_at_minus_five_they_are_the_published_ones(dtype: str, atol: float, rtol: float) -> None:
    found = tolerance(dtype, -5)
    assert found.atol == pytest.approx(atol, rel=1e-9)
    assert found.rtol == pytest.approx(rtol, rel=1e-3)  # 10^-1.796 is printed as 1.6e-2
    assert not found.exact


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool", "anything"])
def test_everything_else_is_exact(dtype: str) -> None:
    assert tolerance(dtype, -5) == tolerance(dtype, 0) == EXACT
    assert EXACT.exact


@settings(deadline=None, derandomize=True)
@given(st.sampled_from(sorted(EXPONENTS)), st.integers(-10, 3))
def test_they_grow_with_t_and_are_one_at_zero(dtype: str, t: int) -> None:
    here, next_one = tolerance(f"torch.{dtype}", t), tolerance(dtype, t + 1)
    assert next_one.atol > here.atol
    assert next_one.rtol > here.rtol
    assert tolerance(dtype, 0).atol == tolerance(dtype, 0).rtol == 1
    a, r = EXPONENTS[dtype]
    assert math.log10(here.atol) == pytest.approx(a * t)
    assert math.log10(here.rtol) == pytest.approx(r * t)
