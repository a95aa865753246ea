"""The error map of an output shows which mistake was made."""

import math

import pytest
import torch

from passnet_core.judge.numerics.comparing import References, compare, gather, worse
from passnet_core.judge.numerics.error_map import MOST_COLUMNS, MOST_IN_A_STRIP, MOST_ROWS
from passnet_core.judge.protocol.messages import Produced
from passnet_core.judge.protocol.reference_bench import OutputDifference
from passnet_core.records import ErrorMap, OutputAccuracy, Verdict, from_json, to_json

NAN, INF = math.nan, math.inf

Place = int | slice | tuple[int | slice, ...]


def produced(value: torch.Tensor) -> Produced:
    dtype = str(value.dtype).removeprefix("torch.")
    return Produced("torch.Tensor", value, dtype, tuple(value.shape), device="cpu")


def noise(*shape: int, dtype: str = "float32") -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).to(getattr(torch, dtype))


def compared(expected: torch.Tensor, actual: torch.Tensor) -> OutputDifference:
    exact = produced(expected.double()) if expected.is_floating_point() else None
    return compare(References(produced(expected), exact), produced(actual), wants_map=lambda found: True)


def error_map_of(expected: torch.Tensor, actual: torch.Tensor) -> ErrorMap:
    found = compared(expected, actual).map
    assert found is not None
    assert len(found.cells) == found.rows * found.columns
    return found


def changed(expected: torch.Tensor, place: Place, value: complex) -> torch.Tensor:
    actual = expected.clone()
    actual[place] = value
    return actual


def wrong_cells(found: ErrorMap) -> set[tuple[int, int]]:
    return {divmod(place, found.columns) for place, each in enumerate(found.cells) if each > 1}


def test_wrong_columns_of_an_output_are_wrong_columns_of_its_map() -> None:
    x = noise(64, 1024)
    found = error_map_of(x, changed(x, (slice(None), slice(1000, None)), 9.0))
    assert (found.axis, found.rows, found.columns) == (1, MOST_ROWS, MOST_COLUMNS)
    assert wrong_cells(found) == {(row, column) for row in range(MOST_ROWS) for column in (62, 63)}
    assert found.spans == ((0, 64), (1000, 1024))
    assert (found.wrong, found.value) == (64 * 24, 9.0)


def test_the_core_of_a_map_leaves_out_a_few_scattered_wrong_elements() -> None:
    x = noise(64, 1024)
    wrong = changed(x, (slice(None), slice(1000, None)), NAN)
    for place in range(0, 40, 3):
        wrong[place, 17 * place] += 1
    found = error_map_of(x, wrong)
    assert (found.core, found.core_wrong) == (((0, 64), (1000, 1024)), 64 * 24)
    assert found.spans == ((0, 64), (0, 1024))
    assert error_map_of(x, changed(x, (slice(None), slice(1000, None)), NAN)).core is None
    assert error_map_of(x, x + 1).core is None


def test_one_wrong_element_is_one_cell_and_the_centre_of_its_neighbourhood() -> None:
    x = noise(3, 40, 50)
    found = error_map_of(x, changed(x, (1, 20, 30), 7.25))
    assert len(wrong_cells(found)) == 1
    assert (found.wrong, found.flat) == (1, (40 * 50 + 20 * 50 + 30, 40 * 50 + 20 * 50 + 31))
    assert found.around is not None
    assert found.around.first == (1, 18, 28)
    assert found.around.actual[2][2] == 7.25
    assert found.around.expected[2][2] == pytest.approx(float(x[1, 20, 30]), rel=1e-5)
    assert [row.count(True) for row in found.around.wrong] == [0, 0, 1, 0, 0]


def test_the_map_of_an_output_with_one_axis_has_one_row() -> None:
    x = noise(10_000)
    found = error_map_of(x, changed(x, slice(9984, None), 0.0))
    assert found.rows == 1
    assert found.columns <= MOST_IN_A_STRIP
    assert wrong_cells(found) == {(0, found.columns - 1)}
    assert (found.flat, found.value) == ((9984, 10_000), 0.0)
    assert found.around is not None
    assert len(found.around.actual[0]) == 9
    assert 9984 - 4 <= found.around.first[0] <= 10_000 - 9


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_the_error_of_nan_and_infinity_is_infinite(value: float) -> None:
    x = noise(4, 33)
    difference = compared(x, changed(x, (2, slice(30, None)), value))
    assert difference.verdict is Verdict.NON_FINITE
    found = difference.map
    assert found is not None
    assert {found.cells[row * found.columns + column] for row, column in wrong_cells(found)} == {INF}
    assert found.spans == ((2, 3), (30, 33))
    record = gather([("typical", difference)], 0)
    assert str(from_json(OutputAccuracy, to_json(record)).map) == str(found)


def test_an_expected_nan_is_no_error() -> None:
    x = changed(noise(4, 33), (0, 0), NAN)
    found = error_map_of(x, changed(x, (3, 3), 5.0))
    assert found.cells[0] == 0.0
    assert len(wrong_cells(found)) == 1


def test_if_all_elements_are_wrong_every_cell_is_wrong() -> None:
    x = noise(16, 64)
    found = error_map_of(x, x * 1.5)
    assert len(wrong_cells(found)) == len(found.cells)
    assert found.factor == pytest.approx(1.5, rel=1e-4)
    assert found.relative == pytest.approx(0.5, rel=1e-4)
    assert (found.value, found.offset, found.large_from, found.rearranged) == (None, None, None, False)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_constant_factor_or_offset_is_recognised_in_every_dtype(dtype: str) -> None:
    x = noise(16, 64, dtype=dtype)
    assert error_map_of(x, -x).factor == pytest.approx(-1.0)
    assert error_map_of(x, (x.double() * 0.125).to(x.dtype)).factor == pytest.approx(0.125)
    assert error_map_of(x, (x.double() + 3).to(x.dtype)).offset == pytest.approx(3, rel=0.02)
    random = error_map_of(x, noise(16, 65, dtype=dtype)[:, 1:])
    assert (random.factor, random.offset, random.value, random.rearranged) == (None, None, None, False)


def test_rearranged_values_are_recognised() -> None:
    x = noise(16, 16)
    assert error_map_of(x, x.T.contiguous()).rearranged
    assert not error_map_of(x, x.T * 1.1).rearranged


def test_errors_in_only_the_large_elements_are_recognised() -> None:
    x = noise(16, 640)
    assert error_map_of(x, torch.where(x.abs() > 1.5, x * 0.3 + x.abs(), x)).large_from == pytest.approx(1.5, rel=0.1)


def test_a_wrong_integer_or_boolean_is_a_wrong_cell() -> None:
    whole = torch.arange(12).reshape(3, 4)
    assert wrong_cells(error_map_of(whole, changed(whole, (1, 1), 6))) == {(1, 1)}
    flags = torch.tensor([[True, False], [True, True]])
    found = error_map_of(flags, changed(flags, (1, 0), False))
    assert found.cells == (0.0, 0.0, 2.0, 0.0)


def test_scalar_column_and_complex_outputs_have_error_maps_and_empty_ones_have_none() -> None:
    scalar = error_map_of(torch.tensor(1.0), torch.tensor(3.0))
    assert (scalar.rows, scalar.columns, scalar.spans, scalar.flat) == (1, 1, (), (0, 1))
    assert scalar.around is not None
    assert (scalar.around.first, scalar.around.actual) == ((), ((3.0,),))
    column = noise(40, 1)
    assert error_map_of(column, changed(column, (39, 0), 4.0)).flat == (39, 40)
    z = torch.complex(noise(3, 20), noise(3, 20))
    found = error_map_of(z, changed(z, (2, 5), 8j))
    assert (found.spans, found.around, found.wrong) == (((2, 3), (5, 6)), None, 1)
    assert compared(torch.zeros(0, 3), torch.zeros(0, 3)).map is None


def test_rounding_a_cell_never_changes_whether_it_is_wrong() -> None:
    x = torch.ones(1000)
    # float32 may be off by 16 units here
    for units in (16, 17, 18, 40):
        found = compared(x, changed(x, 5, 1 + units * 2.0**-23))
        assert (found.verdict is not None) == (found.map is not None)
        assert found.map is None or max(found.map.cells) > 1


def test_only_the_worst_input_draw_gets_an_error_map() -> None:
    x = noise(4, 33)
    one = compared(x, changed(x, (0, 0), 5.0))
    row = compared(x, changed(x, 0, 5.0))
    right = compared(x, x.clone())
    assert worse(row, [right, one])
    assert not worse(one, [row])
    assert not worse(row, [row])
    record = gather([("recorded", right), ("wide", one), ("signed", row)], 0)
    assert (record.wrong_in, record.map) == (("wide", "signed"), row.map)
