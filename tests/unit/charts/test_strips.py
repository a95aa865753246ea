"""Error maps made by hand are shown in words, cells and small tables."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from passnet_core.charts.places import drawn, tail_begin, where
from passnet_core.charts.strips import WORST, WRONG, cells, said, strip_chart, tables
from passnet_core.errors import BadInput
from passnet_core.records import ErrorMap, Neighbourhood, OutputAccuracy, from_json, to_json

INF = math.inf


def output(shape: tuple[int, ...], spots: ErrorMap | None, index: tuple[int, ...] | None = None) -> OutputAccuracy:
    return OutputAccuracy(0, shape, "float32", None, (), 1.0, 0.1, index, 1.0, 2.0, "typical", 0.1, "wrong", map=spots)


def spotted(
    shape: tuple[int, ...], spans: Sequence[tuple[int, int]], wrong: int | None = None, **fields: Any
) -> OutputAccuracy:
    """An output with wrong elements in these spans: all of them, unless their number is given."""
    held = math.prod(end - begin for begin, end in spans)
    first = last = 0
    for (begin, end), size in zip(spans, shape):
        first, last = first * size + begin, last * size + end - 1
    given = {"flat": (first, last + 1), "wrong": held if wrong is None else wrong, **fields}
    return output(
        shape, ErrorMap(axis=max(0, len(shape) - 1), rows=1, columns=1, cells=(2.0,), spans=tuple(spans), **given)
    )


@pytest.mark.parametrize(
    ("found", "words", "tail"),
    [
        (
            spotted((4, 1024), [(0, 4), (1000, 1024)]),
            "96 of 4,096 elements (2.3 %), columns 1000 to 1023 of every row",
            1000,
        ),
        (
            spotted((2, 4, 1024), [(0, 2), (0, 4), (1023, 1024)]),
            "8 of 8,192 elements (0.10 %), column 1023 of every row",
            1023,
        ),
        (spotted((4, 1024), [(3, 4), (0, 1024)]), "1,024 of 4,096 elements (25.0 %), row 3", 3),
        (spotted((4, 1024), [(0, 4), (0, 24)]), "96 of 4,096 elements (2.3 %), columns 0 to 23 of every row", None),
        (spotted((4, 64), [(1, 3), (8, 16)]), "16 of 256 elements (6.2 %), columns 8 to 15, rows 1 to 2", None),
        (
            spotted((8, 4, 64), [(2, 5), (0, 4), (0, 64)]),
            "768 of 2,048 elements (37.5 %), indices 2 to 4 of axis 0",
            None,
        ),
        (spotted((100,), [(96, 100)]), "4 of 100 elements (4.0 %), elements 96 to 99", 96),
        (spotted((4, 33), [(3, 4), (9, 33)]), "24 of 132 elements (18.2 %), columns 9 to 32, row 3", 108),
        (
            spotted((4, 33), [(2, 4), (0, 33)], 40, flat=(92, 132)),
            "40 of 132 elements (30.3 %), elements 92 to 131 in memory order",
            92,
        ),
        (spotted((4, 33), [(0, 4), (0, 33)]), "132 of 132 elements (100 %)", None),
        (spotted((4, 33), [(0, 4), (0, 33)], 66), "66 of 132 elements (50.0 %), spread over the whole output", None),
        (
            spotted((4, 33), [(0, 4), (9, 33)], 20),
            "20 of 132 elements (15.2 %), all in columns 9 to 32 of every row",
            None,
        ),
        (
            spotted((4, 33), [(0, 4), (0, 33)], 100, core=((0, 4), (8, 33)), core_wrong=98),
            "100 of 132 elements (75.8 %), 98.0 % of them in columns 8 to 32 of every row",
            8,
        ),
        (
            spotted((4, 33), [(0, 4), (0, 33)], 120, core=((0, 4), (30, 33)), core_wrong=12),
            "120 of 132 elements (90.9 %), with the largest errors in columns 30 to 32 of every row",
            30,
        ),
        (output((4, 33), None), "", None),
    ],
)
def test_the_wrong_elements_are_named_in_words(found: OutputAccuracy, words: str, tail: int | None) -> None:
    assert where(found) == words
    assert tail_begin(found) == tail


def test_one_element_is_named() -> None:
    one = spotted((4, 33), [(1, 2), (5, 6)])
    assert where(replace(one, index=(1, 5))) == "1 of 132 elements (0.8 %), [1, 5]"
    assert where(spotted((), [], 1)) == "1 of 1 element (100 %)"


def test_cells_know_their_first_and_last_element() -> None:
    spots = ErrorMap(
        axis=1, rows=2, columns=3, cells=(0.0, 0.5, 1.0, 2.5, INF, 1e9), wrong=3, spans=((0, 3), (0, 5)), flat=(6, 15)
    )
    found = cells(spots, (3, 5))
    assert [row["state"] for row in found] == ["right", "right", "right", "wrong", "not finite", "wrong"]
    assert [(row["from"], row["to"]) for row in found[:3]] == [
        ("[0, 0]", "[1, 1]"),
        ("[0, 2]", "[1, 3]"),
        ("[0, 4]", "[1, 4]"),
    ]
    assert (found[5]["x"], found[5]["x2"], found[5]["y"], found[5]["y2"]) == (4, 5, 2, 3)
    assert said(INF) == "NaN or infinity in only one of the two outputs"
    chart = strip_chart(output((3, 5), spots)).to_dict()
    assert chart["width"] == "container"
    assert json.dumps(chart, allow_nan=False), "infinity is no JSON"


@pytest.mark.parametrize("errors", [(INF,), (0.0,), (3.0,)])
def test_a_single_cell_is_drawn_whatever_it_holds(errors: tuple[float, ...]) -> None:
    spots = ErrorMap(axis=0, rows=1, columns=1, cells=errors, wrong=1, spans=(), flat=(0, 1))
    assert strip_chart(output((), spots)).to_dict()


def test_the_neighbourhood_marks_the_worst_and_the_wrong_by_signs() -> None:
    around = Neighbourhood(
        (7, 2, 3), ((1.0, 2.0), (3.0, 4.0)), ((1.0, 9.0), (-math.inf, math.nan)), ((False, True), (True, True))
    )
    expected, actual = tables(around, (7, 3, 4))
    assert expected == [{"row": "2", "3": "1", "4": "2"}, {"row": "3", "3": "3", "4": "4"}]
    assert actual == [
        {"row": "2", "3": "1", "4": f"{WRONG} 9"},
        {"row": "3", "3": f"{WRONG} -inf", "4": f"{WORST} nan"},
    ]
    line = Neighbourhood((5,), ((1.0, 2.0),), ((1.0, 3.0),), ((False, True),))
    assert tables(line, (6,))[1] == [{"5": "1", "6": f"{WORST} 3"}]


def test_an_output_stored_without_an_error_map_is_read() -> None:
    data = to_json(output((2, 2), None))
    for later in ("map", "verdict", "wrong_in", "wrong", "failed"):
        data.pop(later)
    assert from_json(OutputAccuracy, data).map is None


def test_input_draws_are_named_with_their_circumstance_last() -> None:
    assert drawn("wide") == "wide inputs"
    assert drawn("typical, at another address") == "typical inputs, at another address"


@pytest.mark.parametrize(
    "changes",
    [{"rows": 0}, {"columns": 10**9}, {"cells": []}, {"wrong": 0}, {"axis": 9}, {"axis": -1}, {"spans": [[0, 4]]},
     {"spans": [[0, 4], [9, 99]]}, {"rows": -1, "columns": -1}, {"core": [[3, 1], [0, 2]]},
     {"around": {"first": [0, 0], "expected": [[1.0]], "actual": [[1.0, 2.0]], "wrong": [[True]]}},
     {"around": {"first": [0], "expected": [[1.0]], "actual": [[1.0]], "wrong": [[True]]}}],
)  # fmt: skip
def test_an_impossible_error_map_in_a_strangers_file_is_refused(changes: dict[str, Any]) -> None:
    data = to_json(spotted((4, 33), [(0, 4), (9, 33)]))
    assert from_json(OutputAccuracy, data).map is not None
    data["map"].update(changes)
    with pytest.raises(BadInput):
        from_json(OutputAccuracy, data)
