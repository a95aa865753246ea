"""What a person can read from the chart of ES(t), checked in its specification."""

import json

from passnet_core.charts.contenders import ContenderKind, looks
from passnet_core.charts.curves import EAGER, POINT, CurvePoint, curve_chart
from passnet_core.charts.library import TEXT

POINTS = [
    CurvePoint(solver, t, 0.1 * (t + 12), 0.05 * (t + 12), 0.2 * (t + 12))
    for solver in ("TorchInductor", "<b>hostile</b>: datum.es")
    for t in range(-10, 5)
]


LOOKS = looks([("TorchInductor", ContenderKind.INDUCTOR), ("<b>hostile</b>: datum.es", ContenderKind.OWN)])


def test_every_point_is_in_the_chart_with_its_interval() -> None:
    chart = curve_chart(POINTS, 1, LOOKS).to_dict()
    values = [row for layer in chart["layer"] for row in layer.get("data", {}).get("values", []) if "solver" in row]
    assert {(row["solver"], row["t"], row["es"], row["low"], row["high"]) for row in values} == {
        (each.solver, each.t, each.es, each.low, each.high) for each in POINTS
    }
    json.dumps(chart, allow_nan=False)


def test_solvers_differ_by_shape_and_dashes_as_well_as_colour() -> None:
    text = json.dumps(curve_chart(POINTS, 1, LOOKS).to_dict())
    inductor, own = (LOOKS[name] for name in dict.fromkeys(each.solver for each in POINTS))
    for pair in ([inductor.colour, own.colour], [inductor.shape, own.shape], [inductor.dash, own.dash]):
        assert json.dumps(pair)[1:-1] in text
        assert pair[0] != pair[1]


def test_eager_the_level_and_the_click_are_there() -> None:
    chart = curve_chart(POINTS, -3, LOOKS).to_dict()
    data = [row for layer in chart["layer"] for row in layer.get("data", {}).get("values", [])]
    assert any(row.get("label") == EAGER and row["es"] == 1 for row in data)
    assert {"t": -3} in data
    assert POINT in {each["name"] for each in chart["params"]}
    assert "t = -3" in chart["description"]


def test_a_chart_of_nothing_and_of_many_solvers_can_be_drawn() -> None:
    assert curve_chart([], 0, {}).to_dict()["layer"]
    names = [f"solver {number}" for number in range(20)]
    many = looks((name, ContenderKind.OWN) for name in names)
    assert curve_chart([CurvePoint(name, 0, 1.0) for name in names], 0, many).to_dict()["layer"]


def test_a_click_and_a_tooltip_belong_to_the_nearest_point_and_words_have_the_colour_of_text() -> None:
    chart = curve_chart(POINTS, 1, LOOKS).to_dict()
    (point,) = [each for each in chart["params"] if each["name"] == POINT]
    assert point["select"]["nearest"] is True
    for part in ("axis", "legend"):
        assert chart["config"][part] == {"labelColor": TEXT, "titleColor": TEXT}
