"""The Altair chart of ES(t) curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.charts.library import alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
"""Okabe and Ito's colours, which colour-blind readers can tell apart. Shapes and dashes differ as well."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (4, 4), (1, 3), (10, 3))
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
LEGEND_ROW = 24
"""The height of a legend row in pixels; it is added to the chart, so that the curves keep their height."""
EAGER = "eager"
INK = "#1b2430"
"""The colour of text in a chart on white; a dark page passes another one."""
POINT = "point"
"""The selection that a click on a point makes; its fields are solver and t."""


@dataclass(frozen=True)
class CurvePoint:
    """One point of one solver's curve, with the ends of its interval, if it has one."""

    solver: str
    t: int
    es: float
    low: float | None = None
    high: float | None = None


def curve_chart(points: Sequence[CurvePoint], t: int, *, height: int = 360) -> alt.LayerChart:
    """ES(t) of each solver on a logarithmic axis, with a line at 1 for eager and a vertical rule at the chosen t.

    Colour, shape and dashes tell solvers apart, assigned in the order of their first points."""
    solvers = list(dict.fromkeys(point.solver for point in points))
    rows = [{"solver": each.solver, "t": each.t, "es": each.es, "low": each.low, "high": each.high} for each in points]
    levels = sorted({each.t for each in points} | {t})
    x = alt.X(
        "t:Q",
        title="tolerance level t (from t = 1 on, errors are tolerated)",
        scale=alt.Scale(domain=[levels[0], levels[-1]], nice=False),
        axis=alt.Axis(values=levels, format="d", grid=False),
    )
    low, high = _domain(points)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    y = alt.Y(
        "es:Q",
        title="ES(t), eager = 1",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks, format="~g"),
    )
    base = alt.Chart(alt.Data(values=rows))
    # the legend stands above the curves, which need the full width on a narrow page
    columns = 1 if len(solvers) <= 4 else 2
    legend = alt.Legend(orient="top", title=None, columns=columns, labelLimit=300)
    colour = alt.Color("solver:N", sort=solvers, scale=_scale(solvers, COLOURS), legend=legend)
    line = base.mark_line(strokeWidth=2).encode(
        x=x,
        y=y,
        color=colour,
        strokeDash=alt.StrokeDash(
            "solver:N", sort=solvers, scale=_scale(solvers, [list(each) for each in DASHES]), legend=legend
        ),
    )
    # one band per solver with a fixed colour: a colour encoding would wash out the legend of the lines
    bands = [
        alt.Chart(alt.Data(values=[row for row in rows if row["solver"] == solver]))
        .mark_area(opacity=0.15, color=COLOURS[place % len(COLOURS)])
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
        for place, solver in enumerate(solvers)
    ]
    chosen = alt.selection_point(name=POINT, fields=["solver", "t"], on="click", empty=True)
    marks = (
        base.mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("solver:N", sort=solvers, scale=_scale(solvers, SHAPES), legend=legend),
            tooltip=[
                alt.Tooltip("solver:N", title="solver"),
                alt.Tooltip("t:Q"),
                alt.Tooltip("es:Q", title="ES(t)", format=".4f"),
                alt.Tooltip("low:Q", title="interval from", format=".4f"),
                alt.Tooltip("high:Q", title="to", format=".4f"),
            ],
        )
        .add_params(chosen)
    )
    eager = alt.Chart(alt.Data(values=[{"es": 1.0, "label": EAGER, "t": levels[0]}]))
    eager_rule = eager.mark_rule(color="#888888", strokeDash=[3, 3]).encode(y="es:Q")
    eager_label = eager.mark_text(align="left", dx=4, dy=-7, color="#888888").encode(y="es:Q", x=x, text="label:N")
    level = alt.Chart(alt.Data(values=[{"t": t}])).mark_rule(color="#888888", strokeWidth=2).encode(x=x)
    spoken = f"ES(t) of {', '.join(solvers) or 'no solver'} over t, with a rule at t = {t}."
    return alt.layer(*bands, eager_rule, eager_label, level, line, marks).properties(
        height=height + LEGEND_ROW * -(-len(solvers) // columns), width="container", description=spoken
    )


def _domain(points: Sequence[CurvePoint]) -> tuple[float, float]:
    """The range of the ES axis: all points with their intervals, eager's 1, and a margin."""
    figures = [1.0, *(each for point in points for each in (point.es, point.low, point.high) if each)]
    return min(figures) / 1.1, max(figures) * 1.1


def _scale(solvers: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """Assign one value to each solver; with more solvers than values, start again from the first."""
    return alt.Scale(domain=list(solvers), range=[values[place % len(values)] for place in range(len(solvers))])
