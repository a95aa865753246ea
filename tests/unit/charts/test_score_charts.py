"""The charts of single subgraphs and of compared solvers, and their downloads."""

import csv
import io
import json
import math

import numpy as np
import pytest

from passnet_core.charts.bars import BAR, Bar, bar_chart
from passnet_core.charts.contenders import ContenderKind, looks
from passnet_core.charts.downloads import KINDS, csv_text, file_stem, picture
from passnet_core.charts.scatter import DOT, GREY, SHAPES, Dot, scatter_chart
from passnet_core.charts.violins import FEWEST, MARK, NOT_WITHIN, WITHIN, Speedups, density, violin_chart

COLOURS = ("#111111", "#222222")
HOSTILE = "<script>alert(1)</script> [x](javascript:1) datum.x"


def values(chart: dict, field: str) -> list[dict]:
    return [row for layer in chart["layer"] for row in layer["data"]["values"] if field in row]


def test_a_bar_says_in_words_what_its_length_says() -> None:
    bars = [
        Bar(HOSTILE, "s1", 0.1, "crashed, counts as 0.1", "if within t: 1.2"),
        Bar("task", "s2", 1.5, "fine", "same"),
    ]
    chart = bar_chart(bars, -3).to_dict()
    rows = {row["subgraph"]: row for row in values(chart, "factor") if "subgraph" in row}
    assert rows["s1"]["said"] == f"crashed, counts as 0.1 · {HOSTILE} · s1"
    assert rows["s1"]["beside"] == "if within t: 1.2"
    assert rows["s1"]["colour"] != rows["s2"]["colour"]
    assert BAR in {each["name"] for each in chart["params"]}
    assert "ES(-3)" in json.dumps(chart)


@pytest.mark.parametrize("number", [0, 1, 300])
def test_bars_of_any_number_can_be_drawn(number: int) -> None:
    chart = bar_chart([Bar("task", str(each), 0.5, "", "") for each in range(number)], 0).to_dict(validate=True)
    json.dumps(chart, allow_nan=False)
    assert chart["height"] == 40 * max(number, 1), "a step would be refused by the page's autosize, with a warning"


def test_a_density_is_highest_where_most_samples_are_and_symmetric_on_the_logarithmic_axis() -> None:
    found = density([0.5, 1, 1, 1, 2], [0.25, 0.5, 1, 2, 4])
    assert found[2] == 1
    assert found[1] == pytest.approx(found[3])
    assert found[0] == pytest.approx(found[4])
    assert found[0] < found[1] < 1
    assert density([2.0] * 9, [1, 2, 4]) == [0, 1, 0], "all alike: a needle"


def test_a_density_is_the_sum_of_its_kernels() -> None:
    logs = [0.0, 0.4, 1.0]
    spread = np.quantile(logs, 0.75) - np.quantile(logs, 0.25)
    width = 0.9 * min(float(np.std(logs)), spread / 1.34) * 3**-0.2
    sums = [sum(math.exp(-0.5 * ((place - each) / width) ** 2) for each in logs) for place in (0.0, 0.5, 1.0)]
    assert density([math.exp(each) for each in logs], [1.0, math.exp(0.5), math.e]) == pytest.approx(
        [each / max(sums) for each in sums]
    )


def test_few_samples_have_marks_but_no_density() -> None:
    few = Speedups(HOSTILE, (("a", 2.0, True), ("b", 0.5, False)))
    many = Speedups("many", tuple((str(each), 1 + each / 10, True) for each in range(FEWEST)))
    drawn = looks((each, ContenderKind.OWN) for each in (HOSTILE, "many", "none"))
    chart = violin_chart([few, many, Speedups("none", ())], -3, drawn).to_dict(validate=True)
    assert {each["name"] for each in chart["params"]} == {MARK}
    json.dumps(chart, allow_nan=False)
    assert {row["solver"] for row in values(chart, "to") if "label" not in row} == {"many"}
    marks = {(row["solver"], row["subgraph"]): row for row in values(chart, "values")}
    assert len(marks) == 2 + FEWEST
    assert marks[HOSTILE, "a"]["values"] == f"{WITHIN} t = -3"
    assert marks[HOSTILE, "b"]["values"] == f"{NOT_WITHIN} t = -3"
    assert {row["label"] for row in values(chart, "label")} == {"median 1.25×", "median 1.35×"}


def test_each_kind_of_dot_has_a_shape_and_a_colour_whatever_others_there_are() -> None:
    kinds = ["first faster", "second faster", "neither within t"]
    dots = [Dot("task", HOSTILE, 2.0, 1.0, kinds[0]), Dot("task", "s2", 1.0, 4.0, kinds[2])]
    chart = scatter_chart(dots, "first", "second", kinds, COLOURS).to_dict(validate=True)
    points = next(layer for layer in chart["layer"] if "shape" in layer["encoding"])["encoding"]
    assert points["shape"]["scale"] == {"domain": [kinds[0], kinds[2]], "range": [SHAPES[0], SHAPES[2]]}
    assert points["color"]["scale"]["range"] == [COLOURS[0], GREY]
    assert [row["ratio"] for row in values(chart, "ratio")] == [2.0, 0.25]
    assert points["x"]["scale"]["domain"] == points["y"]["scale"]["domain"], "so that the diagonal means equal"
    across, up = (points[axis]["scale"]["range"] for axis in "xy")
    side = across[1]["expr"]
    assert across[0] == 0
    assert up == [chart["height"], {"expr": f"{chart['height']} - {side}"}], "as long as the other axis"
    assert DOT in {each["name"] for each in chart["params"]}
    assert scatter_chart([], "first", "second", kinds, COLOURS).to_dict(validate=True)


def test_thousands_of_marks_are_all_in_the_chart_and_in_its_picture() -> None:
    lanes = [Speedups(name, tuple((str(each), 1 + each / 900, True) for each in range(3000))) for name in "ab"]
    chart = violin_chart(lanes, 0, looks([("a", ContenderKind.RULES), ("b", ContenderKind.OWN)]))
    (marks,) = [rows for rows in chart.to_dict()["datasets"].values() if len(rows) > 2000]
    assert {(row["solver"], row["subgraph"]) for row in marks} == {
        (name, str(each)) for name in "ab" for each in range(3000)
    }
    assert picture(chart, "svg", title="").count(b'aria-roledescription="point"') == 6000
    dots = [Dot("task", str(each), 1.0 + each / 900, 1.0, "faster") for each in range(400)]
    scatter = scatter_chart(dots, "a", "b", ["faster"], COLOURS).to_dict()
    assert any(len(rows) == 400 for rows in scatter["datasets"].values())


def test_a_picture_is_made_offline_with_its_caption_and_without_markup() -> None:
    chart = bar_chart([Bar(HOSTILE, "s1", 0.1, "crashed", "")], 0)
    svg = picture(chart, "svg", title=HOSTILE, caption=["165 of 168 subgraphs", "noise floor"]).decode()
    assert svg.startswith("<svg")
    assert "165 of 168 subgraphs" in svg
    assert "<script" not in svg
    assert picture(chart, "png", title="", caption=[]).startswith(b"\x89PNG")
    assert set(KINDS) == {"svg", "png"}


def test_rows_as_csv_come_back_and_no_text_becomes_a_formula() -> None:
    rows: list[dict[str, object]] = [
        {"task": 'a,"b"\nc', "speedup": 1.5},
        {"task": "=cmd()", "speedup": None},
        {"task": "+1", "speedup": -1.0},
    ]
    assert list(csv.DictReader(io.StringIO(csv_text(rows)))) == [
        {"task": 'a,"b"\nc', "speedup": "1.5"},
        {"task": "'=cmd()", "speedup": ""},
        {"task": "'+1", "speedup": "-1.0"},
    ]
    assert csv_text([]) == ""


def test_the_name_of_a_file_holds_nothing_but_letters_digits_and_dashes() -> None:
    assert file_stem("scores", "19 tasks", "dc37", "t=-3", "curves") == "scores-19-tasks-dc37-t=-3-curves"
    assert file_stem("scores", "../../<x>\n", "") == "scores-x"
