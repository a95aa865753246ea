"""The Altair chart of ES(t) curves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.charts.contenders import ContenderLook
from passnet_core.charts.library import EDGE, TEXT, alt, framed, legend_columns

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
HEIGHT = 300
LABEL = 300
"""The most pixels that a solver's name takes in the legend."""
EAGER = "eager"
POINT = "point"
"""The selection that a click makes: of the nearest point; its fields are solver and t."""


@dataclass(frozen=True)
class CurvePoint:
    """One point of one solver's curve, with the ends of its interval, if it has one."""

    solver: str
    t: int
    es: float
    low: float | None = None
    high: float | None = None


def curve_chart(points: Sequence[CurvePoint], t: int, looks: Mapping[str, ContenderLook]) -> alt.LayerChart:
    """ES(t) of each solver on a logarithmic axis, with a line at 1 for eager and a vertical rule at the chosen t.

    looks: of each solver, by name. Colour, shape and dashes tell solvers apart. A tooltip and a click belong to the
    nearest point."""
    solvers = list(dict.fromkeys(point.solver for point in points))
    rows = [{"solver": each.solver, "t": each.t, "es": each.es, "low": each.low, "high": each.high} for each in points]
    levels = sorted({each.t for each in points} | {t})
    x = alt.X(
        "t:Q",
        title="tolerance level t (from t = 1 on, errors are tolerated)",
        scale=alt.Scale(domain=[levels[0], levels[-1]], nice=False),
        axis=alt.Axis(values=levels, format="d", grid=False),
    )
    figures = [1.0, *(each for point in points for each in (point.es, point.low, point.high) if each)]
    low, high = min(figures) / 1.1, max(figures) * 1.1
    ticks = [tick for tick in TICKS if low <= tick <= high]
    y = alt.Y(
        "es:Q",
        title="ES(t), eager = 1",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks, format="~g"),
    )
    base = alt.Chart(alt.Data(values=rows))
    # the legend stands above the curves, which need the full width on a narrow page
    legend = alt.Legend(
        orient="top", title=None, columns=legend_columns(solvers, LABEL), labelLimit=LABEL, symbolStrokeWidth=0
    )

    def solver(values: Iterable[Any]) -> dict[str, Any]:
        """How a channel tells the solvers apart, by a value for each."""
        scale = alt.Scale(domain=solvers, range=list(values))
        return {"shorthand": "solver:N", "sort": solvers, "scale": scale, "legend": legend}

    colour = alt.Color(**solver(looks[each].colour for each in solvers))
    dash = alt.StrokeDash(**solver(list(looks[each].dash) for each in solvers))
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    # one band per solver with a fixed colour: a colour encoding would wash out the legend of the lines
    bands = [
        alt.Chart(alt.Data(values=[row for row in rows if row["solver"] == solver]))
        .mark_area(opacity=0.15, color=looks[solver].colour)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
        for solver in solvers
    ]
    chosen = alt.selection_point(name=POINT, fields=["solver", "t"], on="click", nearest=True, empty=True)
    marks = (
        base.mark_point(filled=True, size=70, opacity=1, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape(**solver(looks[each].shape for each in solvers)),
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
    eager_rule = eager.mark_rule(color=EDGE, strokeDash=[3, 3]).encode(y="es:Q")
    eager_label = eager.mark_text(align="left", dx=4, dy=-7, color=TEXT).encode(y="es:Q", x=x, text="label:N")
    level = alt.Chart(alt.Data(values=[{"t": t}])).mark_rule(color=EDGE, strokeWidth=2).encode(x=x)
    spoken = f"ES(t) of {', '.join(solvers) or 'no solver'} over t, with a rule at t = {t}."
    layers = alt.layer(*bands, eager_rule, eager_label, level, line, marks)
    return framed(layers, height=HEIGHT, width="container", description=spoken)
