"""Traces made by hand are drawn on their tensors with few marks, and said in words."""

import pytest

from passnet_core.charts.steps import place, remarks, value_rows, words
from passnet_core.charts.tiles import (
    CELLS,
    MASKED,
    MOST_MARKS,
    MOST_ROWS,
    OUTSIDE,
    Table,
    Window,
    lanes_chart,
    rectangles,
    table_of,
    tensor_chart,
    window_of,
)
from passnet_core.errors import BadInput
from passnet_core.records import (
    AccessKind,
    MemoryAccess,
    PassTrace,
    TracedLaunch,
    TracedProgram,
    TracedTensor,
    from_json,
    to_json,
)
from tests.fake_backend import FAKE_ENVIRONMENT


def access(kind: AccessKind, tensor: str, elements: list[int], masked: list[bool] | None = None) -> MemoryAccess:
    lanes = len(elements)
    values = tuple(str(each / 2) for each in elements)
    return MemoryAccess(kind, "add.py", 21, tensor, (lanes,), tuple(elements), tuple(masked or [False] * lanes), values)


def launched(size: int, block: int, shape: tuple[int, ...]) -> TracedLaunch:
    """A launch that copies from x to y, a block per program; masks leave out what lies behind the last element."""
    programs = []
    for number in range(-(-size // block)):
        lanes = range(number * block, (number + 1) * block)
        elements, masked = [each if each < size else -1 for each in lanes], [each >= size for each in lanes]
        steps = (access(AccessKind.LOAD, "x", elements, masked), access(AccessKind.STORE, "y", elements, masked))
        programs.append(TracedProgram((number, 0, 0), steps))
    tensors = (TracedTensor("x", shape, (1,), "float16", "in_0"), TracedTensor("y", shape, (1,), "float16"))
    return TracedLaunch("copy", (len(programs), 1, 1), (("BLOCK", str(block)),), tensors, tuple(programs), 1)


LAUNCH = launched(700, 256, (1, 7, 100))
LAST = LAUNCH.programs[-1]


def test_a_step_is_said_in_a_sentence() -> None:
    assert words(LAUNCH, LAUNCH.programs[1], 0) == (
        "Program 1, step 1 of 2: line 21 of add.py loads 256 elements of x (in_0), [0, 2, 56] to [0, 5, 11]; the mask"
        " leaves out none of 256 lanes."
    )
    assert words(LAUNCH, LAST, 1) == (
        "Program 2, step 2 of 2: line 21 of add.py stores 188 elements of y, [0, 5, 12] to [0, 6, 99]; the mask leaves"
        " out 68 of 256 lanes."
    )


@pytest.mark.parametrize(
    ("elements", "masked", "said"),
    [
        (
            [3, 3, -1],
            [False, False, False],
            "1 element of x (in_0), [0, 0, 3], some of them in several lanes; the mask",
        ),
        ([3, -1, -1], [False, False, True], "leaves out 1 of 3 lanes; 1 lane addresses memory outside of it."),
        ([-1, -1], [True, True], "loads nothing of x (in_0); the mask leaves out all 2 lanes."),
    ],
)
def test_what_is_unusual_is_said(elements: list[int], masked: list[bool], said: str) -> None:
    program = TracedProgram((0, 0, 0), (access(AccessKind.LOAD, "x", elements, masked),))
    assert said in words(LAUNCH, program, 0)


def test_what_is_left_out_and_who_says_it_is_said() -> None:
    trace = PassTrace("s", "b", FAKE_ENVIRONMENT, (LAUNCH,), left_out=1)
    said = " ".join(remarks(trace, LAUNCH, TracedProgram((0, 0, 0), (), left_out=7)))
    for each in ("BLOCK=256", "Only 1 ran", "7 further accesses", "1 further launch.", "x, y.", "does not check it"):
        assert each in said


def test_the_last_lanes_are_marked_as_left_out() -> None:
    rows = value_rows(LAST.accesses[0], LAUNCH.tensors[0])
    assert rows[0] == {"lane": 0, "element": "[0, 5, 12]", "value": "256.0", "masked": False}
    assert len(rows) == 64
    (beyond,) = value_rows(access(AccessKind.LOAD, "x", [-1], [True]), LAUNCH.tensors[0])
    assert (beyond["element"], beyond["masked"]) == ("none", True)


@pytest.mark.parametrize(
    ("shape", "table"),
    [
        ((), Table(1, 1, 1, False)),
        ((0, 5), Table(0, 5, 0, False)),
        ((7,), Table(1, 7, 7, False)),
        ((1, 700), Table(11, 64, 700, True)),
        ((2, 3, 100), Table(6, 100, 600, False)),
    ],
)
def test_leading_axes_are_rows_and_one_long_row_is_wrapped(shape: tuple[int, ...], table: Table) -> None:
    assert table_of(shape) == table


def test_of_a_large_tensor_the_part_around_what_is_touched_is_drawn() -> None:
    table = table_of((1000, 50_000))
    window = window_of(table, [500 * 50_000 + 40_000, 501 * 50_000 + 40_003])
    assert window.top <= 500 < 501 < window.bottom
    assert window.left <= 40_000 < 40_003 < window.right
    assert (window.bottom - window.top, window.right - window.left) == (MOST_ROWS, 64)
    assert window_of(table, [999 * 50_000]).bottom == 1000
    assert window_of(table_of((7, 100)), []) == Window(0, 7, 0, 100)


def test_neighbours_are_one_rectangle_and_there_are_never_many() -> None:
    table = Table(32, 4096, 32 * 4096, False)
    whole = Window(0, 32, 0, 4096)
    block = [row * 4096 + column for row in range(3, 6) for column in range(8, 16)]
    assert rectangles(block, table, whole, 10) == [(8, 16, 3, 6)]
    assert rectangles([0, 1, 4096, 4099], table, whole, 10) == [(0, 2, 0, 1), (0, 1, 1, 2), (3, 4, 1, 2)]
    scattered = rectangles(range(0, 32 * 4096, 3), table, whole, MOST_MARKS)
    assert 0 < len(scattered) <= MOST_MARKS
    assert rectangles(block, table, Window(4, 5, 0, 12), 10) == [(8, 12, 4, 5)]


def drawn(chart: object) -> dict[str, list[dict[str, object]]]:
    """The marks of a chart, by what they mean."""
    data = chart.data  # type: ignore[attr-defined]
    rows = data.to_pylist() if hasattr(data, "to_pylist") else data.values
    return {state: [each for each in rows if each["state"] == state] for state in {each["state"] for each in rows}}


def test_a_tensor_shows_this_step_other_steps_and_other_programs() -> None:
    x, y = LAUNCH.tensors
    chart = tensor_chart(LAUNCH, LAST, 0, x, legend=True)
    marks = drawn(chart)
    assert len(marks["loaded"]) == 188
    assert marks["loaded"][0]["index"] == "[0, 5, 12]"
    assert marks["loaded"][0]["value"] == "256.0"
    assert {"other programs", "not accessed"} <= set(marks)
    spec = chart.to_dict()
    assert "loads 188 elements" in spec["description"]
    assert MASKED in spec["encoding"]["fill"]["legend"]["values"]
    other = drawn(tensor_chart(LAUNCH, LAST, 0, y, legend=False))
    assert "other steps" in other
    assert "stored" not in other


def test_the_block_of_lanes_shows_which_the_mask_leaves_out_and_which_lie_outside() -> None:
    marks = drawn(lanes_chart(LAST.accesses[0], "said"))
    assert (len(marks["loaded"]), len(marks[MASKED])) == (188, 68)
    assert set(drawn(lanes_chart(access(AccessKind.STORE, "x", [1, -1]), ""))) == {"stored", OUTSIDE, "not accessed"}
    large = launched(9000, 4096, (9000,))
    for chart in (
        lanes_chart(large.programs[-1].accesses[0], ""),
        tensor_chart(large, large.programs[0], 0, large.tensors[0], legend=False),
    ):
        assert sum(map(len, drawn(chart).values())) < CELLS


def test_a_place_in_a_grid_has_as_many_numbers_as_the_grid_has_axes() -> None:
    assert place(LAUNCH, LAST) == "2"
    program = TracedProgram((1, 0, 2), ())
    assert place(TracedLaunch("k", (2, 1, 3), (), (), (program,), 6), program) == "(1, 0, 2)"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("elements", [700]),
        ("elements", [-2]),
        ("masked", []),
        ("tensor", "z"),
        ("shape", [0]),
        ("shape", [1 << 62] * 2),
    ],
)
def test_a_trace_that_cannot_be_is_refused(field: str, value: object) -> None:
    told = to_json(
        TracedLaunch("k", (1, 1, 1), (), LAUNCH.tensors, (TracedProgram((0, 0, 0), (LAST.accesses[0],)),), 1)
    )
    accesses = told["programs"][0]["accesses"]
    accesses[0] |= {"shape": [1], "elements": [0], "masked": [False], "values": ["1"]}
    assert from_json(TracedLaunch, told).programs[0].accesses[0].touched == (0,)
    accesses[0][field] = value
    with pytest.raises(BadInput):
        from_json(TracedLaunch, told)
