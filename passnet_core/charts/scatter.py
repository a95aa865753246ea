"""The Altair chart that plots the speedups of two solvers against each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.charts.curves import TICKS
from passnet_core.charts.library import EDGE, alt, data_of, framed, legend_columns, nearest

SHAPES = ("triangle-up", "triangle-down", "circle", "diamond", "cross", "square")
"""The shape of each kind, in the order of the kinds."""
GREY = "#777777"
WIDEST = 400
"""The most pixels that either axis takes."""
LABEL = 320
"""The most pixels that a label takes in the legend."""
DOT = "dot"
"""The selection that a click makes: of the nearest dot; its fields are task and subgraph."""


@dataclass(frozen=True)
class Dot:
    """One subgraph that both solvers timed. first, second: their speedups. kind: how the two compare, in words."""

    task_id: str
    subgraph_id: str
    first: float
    second: float
    kind: str


def scatter_chart(
    dots: Sequence[Dot], first: str, second: str, kinds: Sequence[str], colours: tuple[str, str]
) -> alt.LayerChart:
    """The first solver's speedup over the second's on equal logarithmic axes: above the diagonal the first is faster.

    kinds: all that are possible, in the order of SHAPES; the two that each solver wins have its colour of `colours`.
    The axes are equally long, whatever the page's width. A tooltip and a click belong to the nearest dot."""
    figures = [1.0, *(each for dot in dots for each in (dot.first, dot.second))]
    domain = [min(figures) / 1.08, max(figures) * 1.08]
    shades = (*colours, GREY, *colours, GREY)
    present = [place for place, kind in enumerate(kinds) if any(dot.kind == kind for dot in dots)]
    shown = [kinds[place] for place in present]
    rows = [
        {
            "task": dot.task_id,
            "subgraph": dot.subgraph_id,
            "first": dot.first,
            "second": dot.second,
            "ratio": dot.first / dot.second,
            "kind": dot.kind,
        }
        for dot in dots
    ]
    side = f"min(width, {WIDEST})"
    across = alt.Scale(type="log", domain=domain, nice=False, range=[0, alt.ExprRef(side)])
    up = alt.Scale(type="log", domain=domain, nice=False, range=[WIDEST, alt.ExprRef(f"{WIDEST} - {side}")])
    axis = alt.Axis(
        values=[tick for tick in TICKS if domain[0] <= tick <= domain[1]], format="~g", labelOverlap=True, grid=False
    )
    x = alt.X("second:Q", title=f"speedup of {_short(second)}", scale=across, axis=axis)
    y = alt.Y("first:Q", title=f"speedup of {_short(first)}", scale=up, axis=axis)
    legend = alt.Legend(orient="top", columns=legend_columns(shown, LABEL), labelLimit=LABEL, title=None)

    def scale(values: Sequence[str]) -> alt.Scale:
        return alt.Scale(domain=shown, range=[values[place % len(values)] for place in present])

    hovered = nearest("hovered")
    points = (
        alt.Chart(data_of(rows))
        .mark_point(filled=True, opacity=0.75, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", sort=shown, legend=legend, scale=scale(shades)),
            shape=alt.Shape("kind:N", sort=shown, legend=legend, scale=scale(SHAPES)),
            size=alt.condition(hovered, alt.value(160), alt.value(55)),
            tooltip=[
                alt.Tooltip("task:N"),
                alt.Tooltip("subgraph:N"),
                alt.Tooltip("first:Q", title=_short(first), format=".3f"),
                alt.Tooltip("second:Q", title=_short(second), format=".3f"),
                alt.Tooltip("ratio:Q", format=".3f"),
                alt.Tooltip("kind:N", title="comparison"),
            ],
        )
        .add_params(
            hovered, alt.selection_point(name=DOT, fields=["task", "subgraph"], on="click", nearest=True, empty=True)
        )
    )
    ends = alt.Chart(alt.Data(values=[{"first": each, "second": each} for each in domain]))
    diagonal = ends.mark_line(color=EDGE, strokeWidth=1.5).encode(x=x, y=y)
    # rules end where the axes do
    one = [[{"first": 1.0, "second": each} for each in domain], [{"first": each, "second": 1.0} for each in domain]]
    eager = [alt.Chart(alt.Data(values=each)).mark_line(color=EDGE, strokeDash=[3, 3]).encode(x=x, y=y) for each in one]
    spoken = (
        f"Speedups of {len(rows)} subgraphs: {first} on the vertical axis, {second} on the horizontal one;"
        " on the diagonal they are equal."
    )
    layers = alt.layer(*eager, diagonal, points)
    return framed(layers, height=WIDEST, width="container", description=spoken)


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
