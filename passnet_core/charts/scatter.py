"""The Altair chart that plots the speedups of two solvers against each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.charts.curves import TICKS
from passnet_core.charts.data import data_of
from passnet_core.charts.library import alt

LOOKS = (
    ("#0072B2", "triangle-up"),
    ("#D55E00", "triangle-down"),
    ("#777777", "circle"),
    ("#CC79A7", "diamond"),
    ("#E69F00", "cross"),
    ("#009E73", "square"),
)
"""Colour and shape of each kind, in the order of the kinds; either alone tells them apart."""


@dataclass(frozen=True)
class Dot:
    """One subgraph that both solvers timed. first, second: their speedups. kind: how the two compare, in words."""

    task_id: str
    subgraph_id: str
    first: float
    second: float
    kind: str


def scatter_chart(dots: Sequence[Dot], first: str, second: str, kinds: Sequence[str]) -> alt.LayerChart:
    """The first solver's speedup over the second's on equal logarithmic axes: above the diagonal the first is faster.

    kinds: all kinds of dots that are possible, in the order of LOOKS."""
    figures = [1.0, *(each for dot in dots for each in (dot.first, dot.second))]
    domain = [min(figures) / 1.08, max(figures) * 1.08]
    present = [kind for kind in kinds if any(dot.kind == kind for dot in dots)]
    looks = [LOOKS[kinds.index(kind) % len(LOOKS)] for kind in present]
    colours, shapes = [colour for colour, _ in looks], [shape for _, shape in looks]
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
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis = alt.Axis(
        values=[tick for tick in TICKS if domain[0] <= tick <= domain[1]], format="~g", labelOverlap=True, grid=False
    )
    x = alt.X("second:Q", title=f"speedup of {_short(second)}", scale=scale, axis=axis)
    y = alt.Y("first:Q", title=f"speedup of {_short(first)}", scale=scale, axis=axis)
    legend = alt.Legend(orient="top", columns=1, labelLimit=320, title=None)
    points = (
        alt.Chart(data_of(rows))
        .mark_point(size=55, filled=True, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", sort=present, legend=legend, scale=alt.Scale(domain=present, range=colours)),
            shape=alt.Shape("kind:N", sort=present, legend=legend, scale=alt.Scale(domain=present, range=shapes)),
            tooltip=[
                alt.Tooltip("task:N"),
                alt.Tooltip("subgraph:N"),
                alt.Tooltip("first:Q", title=_short(first), format=".3f"),
                alt.Tooltip("second:Q", title=_short(second), format=".3f"),
                alt.Tooltip("ratio:Q", format=".3f"),
                alt.Tooltip("kind:N", title="comparison"),
            ],
        )
    )
    ends = alt.Chart(alt.Data(values=[{"first": each, "second": each} for each in domain]))
    diagonal = ends.mark_line(color="#888888", strokeWidth=1.5).encode(x=x, y=y)
    one = alt.Chart(alt.Data(values=[{"first": 1.0, "second": 1.0}]))
    eager = (one.mark_rule(color="#888888", strokeDash=[3, 3]).encode(**each) for each in ({"x": x}, {"y": y}))
    spoken = (
        f"Speedups of {len(rows)} subgraphs: {first} on the vertical axis, {second} on the horizontal one;"
        " on the diagonal they are equal."
    )
    return alt.layer(*eager, diagonal, points).properties(height=460, width="container", description=spoken)


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
