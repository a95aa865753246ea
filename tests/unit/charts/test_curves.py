"""What a person can read from the chart of ES(t), checked in its specification."""

import json

from passnet_core.charts.curves import COLOURS, DASHES, EAGER, POINT, SHAPES, CurvePoint, curve_chart

POINTS = [
    CurvePoint(solver, t, 0.1 * (t + 12), 0.05 * (t + 12), 0.2 * (t + 12))
    for solver in ("TorchInductor", "<b>hostile</b>: datum.es")
    for t in range(-10, 5)
]


def test_every_point_is_in_the_chart_with_its_interval() -> None:
    chart = curve_chart(POINTS, 1).to_dict()
    values = [row for layer in chart["layer"] for row in layer.get("data", {}).get("values", []) if "solver" in row]
    assert {(row["solver"], row["t"], row["es"], row["low"], row["high"]) for row in values} == {
        (each.solver, each.t, each.es, each.low, each.high) for each in POINTS
    }
    json.dumps(chart, allow_nan=False)


def test_solvers_differ_by_shape_and_dashes_as_well_as_colour() -> None:
    text = json.dumps(curve_chart(POINTS, 1).to_dict())
    for values in (COLOURS, SHAPES, [list(each) for each in DASHES]):
        assert json.dumps(list(values[:2]))[1:-1] in text
    assert len(COLOURS) == len(SHAPES) == len(DASHES)


def test_eager_the_level_and_the_click_are_there() -> None:
    chart = curve_chart(POINTS, -3).to_dict()
    data = [row for layer in chart["layer"] for row in layer.get("data", {}).get("values", [])]
    assert any(row.get("label") == EAGER and row["es"] == 1 for row in data)
    assert {"t": -3} in data
    assert POINT in {each["name"] for each in chart["params"]}
    assert "t = -3" in chart["description"]


def test_a_chart_of_nothing_and_of_many_solvers_can_be_drawn() -> None:
    assert curve_chart([], 0).to_dict()["layer"]
    assert curve_chart([CurvePoint(f"solver {number}", 0, 1.0) for number in range(20)], 0).to_dict()["layer"]
