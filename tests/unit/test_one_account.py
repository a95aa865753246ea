"""What is wrong has one figure: the card, the table, the error map, the report, the command line and JSON agree."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from pages.ui.value_view import output_row
from passnet_core.advice.next_step import next_step
from passnet_core.charts.places import where
from passnet_core.charts.strips import strip_chart
from passnet_core.cli.judging import told
from passnet_core.records import (
    BEYOND,
    LEVELS,
    WRONG,
    Accuracy,
    ErrorMap,
    FailedInputs,
    Outcome,
    OutputAccuracy,
    Verdict,
    counted,
    from_json,
    level_of,
    percent,
    to_json,
)
from passnet_core.reports.content import Material, content_of
from passnet_core.reports.writing import written
from passnet_core.scoring.published import published
from tests.example_playground import REFERENCE, measured

FIGURE = re.compile(r"[\d,]+ of [\d,]+ elements? \([\d.]+ %\)")
SETS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
KINDS = st.sampled_from(sorted(WRONG))
LATER = ("verdict", "wrong_in", "map", "wrong", "failed")
"""Fields that older records lack, the oldest first."""


@st.composite
def outputs(draw: st.DrawFn) -> OutputAccuracy:
    """An output that is wrong on some input sets, with a map or without, as stored now or earlier."""
    rows, columns = draw(st.integers(1, 50)), draw(st.integers(1, 4000))
    size = rows * columns
    wrong = draw(st.none() | st.integers(1, size) | st.just(1) | st.just(size))
    names = draw(st.lists(st.sampled_from(SETS), min_size=1, unique=True))
    t = draw(st.none() | st.integers(LEVELS[0], 0))
    spots = None
    if wrong is not None and draw(st.booleans()):
        spots = ErrorMap(1, 1, 1, (2.0,), wrong, ((0, rows), (0, columns)), (0, size))
    failed = tuple(FailedInputs(name, draw(KINDS), min(wrong or 0, size) if wrong else None, size) for name in names)
    made = OutputAccuracy(
        output=0,
        shape=(rows, columns),
        dtype="float32",
        smallest_t=t,
        correct_at=tuple(each for each in LEVELS if t is not None and each >= t),
        max_error=draw(st.none() | st.floats(0, 1e9)),
        mean_error=0.5,
        index=(rows - 1, columns - 1),
        expected=1.0,
        actual=2.0,
        profile=names[0],
        wrong_fraction=1.0 if wrong is None else wrong / size,
        problem="it is wrong",
        verdict=draw(KINDS),
        wrong_in=tuple(names),
        map=spots,
        wrong=wrong,
        failed=failed,
    )
    kept = {name: value for name, value in to_json(made).items() if name not in LATER[draw(st.integers(0, 5)) :]}
    # the largest share of all input sets, as it was once stored
    kept["wrong_fraction"] = draw(st.just(made.wrong_fraction) | st.floats(0, 1))
    return from_json(OutputAccuracy, json.loads(json.dumps(kept)))


def outcome_of(output: OutputAccuracy) -> Outcome:
    (made, *_) = measured(REFERENCE, speedup=1.5).outcomes
    accuracy = Accuracy((output,), SETS)
    return replace(made, verdict=Verdict.WRONG_VALUES, accuracy=accuracy, timings=(), speedups=(), reason="wrong")


class Cells(HTMLParser):
    """The cells of a report's tables, in order, and its whole text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.text = ""
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "td"
        self.cells += [""] * self.inside

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.inside:
            self.cells[-1] += data


def figures_of(output: OutputAccuracy, made: Outcome) -> Iterator[str]:
    """Every number of wrong elements that the card, the error map and the command line show."""
    yield from FIGURE.findall(next_step(made) or "")
    yield from FIGURE.findall(where(output))
    if output.map:
        yield from FIGURE.findall(strip_chart(output).to_dict()["description"])


@settings(max_examples=40, deadline=None)
@given(outputs())
def test_every_place_shows_the_same_figures(output: OutputAccuracy) -> None:
    made = outcome_of(output)
    assert made.accuracy is not None
    row, (data,) = output_row(output, made.accuracy), published(made)["outputs"]
    file = measured(REFERENCE, speedup=1.5)
    report = Cells(written(content_of(Material(file.run, 1, "", (made,), None, {}, {}))))
    said = {"smallest t": output.level, "wrong": output.wrong_words, "input sets": made.accuracy.failed_words(output)}
    assert {name: row[name] for name in said} == said
    assert {"smallest t": data["level"], "wrong": data["wrong_said"], "input sets": data["failed_said"]} == said
    assert {output.level, output.wrong_words} <= set(report.cells)
    assert f"it is wrong. It is {said['input sets']}." in report.text or not said["input sets"]
    assert level_of(made.accuracy) == output.level in report.cells[:8]
    sets = {counted(each.wrong or 0, each.size) for each in output.failed}
    assert set(figures_of(output, made)) <= {output.wrong_words, *sets}
    lines = "\n".join(told("here", made))
    assert f"smallest t {output.level}" in lines
    assert said["input sets"] in lines
    if output.wrong_elements is not None:
        assert output.wrong_words == counted(data["wrong"], math.prod(output.shape))
        assert data["wrong_fraction"] == data["wrong"] / math.prod(output.shape)


@settings(max_examples=150)
@given(st.integers(1, 10**13).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))))
def test_a_percentage_reaches_neither_end_but_for_none_and_all(figures: tuple[int, int]) -> None:
    part, whole = figures
    said = float(percent(part, whole).removesuffix(" %"))
    assert (said == 0) == (part == 0)
    assert (said == 100) == (part == whole)
    near = 100 * min(part, whole - part) / whole
    assert abs(said - 100 * part / whole) <= max(0.0501, near) + 1e-9


def test_the_figure_of_few_and_of_nearly_all() -> None:
    assert counted(3, 157_696) == "3 of 157,696 elements (0.002 %)"
    assert counted(157_693, 157_696) == "157,693 of 157,696 elements (99.998 %)"
    assert counted(30_593, 157_696) == "30,593 of 157,696 elements (19.4 %)"
    assert counted(1, 1) == "1 of 1 element (100 %)"


def test_a_smallest_t_is_never_a_dash() -> None:
    at = {"output": 0, "shape": (2,), "dtype": "float32", "max_error": 9.0, "mean_error": 1.0, "index": (0,)}
    none, loosest, strict = (
        OutputAccuracy(smallest_t=t, correct_at=(), **at)  # type: ignore[arg-type]
        for t in (None, 0, -7)
    )
    assert [each.level for each in (none, loosest, strict)] == [BEYOND, "0 (loosest)", "-7"]
    assert level_of(Accuracy((strict, loosest), ())) == "0 (loosest)"
    assert level_of(Accuracy((strict, none, loosest), ())) == BEYOND
    assert level_of(None) == "not compared"
    assert level_of(Accuracy((replace(none, max_error=None, index=None),), ())) == "not compared"
