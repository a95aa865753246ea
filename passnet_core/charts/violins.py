"""The Altair chart of how speedups are distributed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from passnet_core.charts.contenders import ContenderLook
from passnet_core.charts.curves import TICKS
from passnet_core.charts.library import EDGE, TEXT, alt, data_of, framed

WITHIN, NOT_WITHIN = "within", "not within"
LANE = 120
"""The height of one solver's lane in pixels."""
MARK = "mark"
"""The selection that a click makes: of the nearest mark; its fields are solver and subgraph."""
SIGNS = ("circle", "M-1,-1L1,1M-1,1L1,-1")
"""The marks of samples within t, a ring, and of others, a slanted cross."""
FEWEST = 8
"""Fewer samples than these get no density, which would claim more than they show."""
CROWD = 600
"""If there are more marks than these, they are smaller."""
GRID = 96
HALF = 0.34
"""Half the width of a density at its widest, as a share of the lane."""
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Speedups:
    """The speedups of one solver. samples: (subgraph, speedup, whether it is within t)."""

    solver: str
    samples: tuple[tuple[str, float, bool], ...]


def density(speedups: Sequence[float], at: Sequence[float]) -> list[float]:
    """Kernel density of log speedups at the given speedups, scaled to a maximum of 1 (Gaussian, Silverman's width)."""
    logs, places = np.log(speedups), np.log(at)
    q1, q3 = np.quantile(logs, [0.25, 0.75])
    spreads = [each for each in (float(logs.std()), float(q3 - q1) / 1.34) if each > 0]
    # equal speedups have no width: 0.01 draws a needle
    width = max(0.9 * min(spreads, default=0.0) * len(logs) ** -0.2, 0.01)
    heights = np.exp(-0.5 * ((places[:, None] - logs[None, :]) / width) ** 2).sum(axis=1)
    top = heights.max()
    return [float(each) for each in (heights / top if top > 0 else heights)]


def violin_chart(solvers: Sequence[Speedups], t: int, looks: Mapping[str, ContenderLook]) -> alt.LayerChart:
    """One lane per solver: its density if there are enough samples, a mark for every sample, and the median.

    looks: of each solver, by name. The shape of a mark tells whether the sample is within t; the legend explains it.
    A tooltip and a click belong to the nearest mark."""
    figures = [1.0, *(speedup for each in solvers for _, speedup, _ in each.samples)]
    low, high = min(figures) / 1.25, max(figures) * 1.25
    shapes, marks, middles = [], [], []
    names = []
    for lane, each in enumerate(solvers):
        colour = looks[each.solver].colour
        speedups = [speedup for _, speedup, _ in each.samples]
        enough = len(speedups) >= FEWEST
        names.append({"name": f"{each.solver} ({len(speedups)})", "y": lane - 0.42})
        if enough:
            grid = [float(place) for place in np.geomspace(low, high, GRID)]
            for place, height in zip(grid, density(speedups, grid)):
                edge = {"speedup": place, "from": lane - HALF * height, "to": lane + HALF * height}
                shapes.append(edge | {"solver": each.solver, "colour": colour})
        widths = density(speedups, speedups) if enough else [0.4] * len(speedups)
        for number, ((name, speedup, right), width) in enumerate(zip(each.samples, widths)):
            # spread evenly over the width, and not at random, so that the chart stays the same
            aside = ((number * GOLDEN) % 1 - 0.5) * 1.7 * HALF * width
            marks.append(
                {
                    "solver": each.solver,
                    "subgraph": name,
                    "speedup": speedup,
                    "y": lane + aside,
                    "values": _said(right, t),
                    "colour": colour,
                }
            )
        if speedups:
            middle = float(np.median(speedups))
            ends = {"from": lane - HALF, "to": lane + HALF}
            middles.append(
                ends | {"speedup": middle, "label": f"median {middle:.2f}×", "y": lane + 0.42, "solver": each.solver}
            )
    x = alt.X(
        "speedup:Q",
        title="speedup over eager, end to end, logarithmic",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=[tick for tick in TICKS if low <= tick <= high], format="~g", labelOverlap=True),
    )
    lanes = alt.Scale(domain=[len(solvers) - 0.45, -0.6], nice=False, zero=False)
    y = alt.Y("y:Q", axis=None, scale=lanes)
    said = [_said(True, t), _said(False, t)]
    violins = (
        alt.Chart(data_of(shapes))
        .mark_area(opacity=0.18)
        .encode(x=x, y=alt.Y("from:Q", axis=None, scale=lanes), y2="to:Q", color=alt.Color("colour:N", scale=None))
        .encode(detail="solver:N")
    )
    points = (
        alt.Chart(data_of(marks))
        .mark_point(size=34 if len(marks) <= CROWD else 14, opacity=0.65, strokeWidth=1.4, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color("colour:N", scale=None),
            shape=alt.Shape(
                "values:N",
                title=None,
                sort=said,
                scale=alt.Scale(domain=said, range=list(SIGNS)),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=[
                alt.Tooltip("solver:N"),
                alt.Tooltip("subgraph:N"),
                alt.Tooltip("speedup:Q", format=".3f"),
                alt.Tooltip("values:N"),
            ],
        )
        .add_params(alt.selection_point(name=MARK, fields=["solver", "subgraph"], on="click", nearest=True, empty=True))
    )
    medians = alt.Chart(alt.Data(values=middles))
    rules = medians.mark_rule(strokeWidth=2, color=EDGE).encode(
        x=x, y=alt.Y("from:Q", axis=None, scale=lanes), y2="to:Q"
    )
    labels = medians.mark_text(fontSize=12, baseline="middle", color=TEXT).encode(x=x, y=y, text="label:N")
    titles = (
        alt.Chart(alt.Data(values=names))
        .mark_text(
            align="left", baseline="middle", dx=2, fontSize=13, fontWeight="bold", color=TEXT, limit=alt.expr("width")
        )
        .encode(x=alt.value(0), y=y, text="name:N")
    )
    eager = alt.Chart(alt.Data(values=[{"speedup": 1.0}])).mark_rule(color=EDGE, strokeDash=[3, 3]).encode(x=x)
    spoken = f"Speedups of {', '.join(each.solver for each in solvers) or 'no solver'}, each subgraph as a mark."
    # the points come last, so that no other mark takes their clicks
    layers = alt.layer(violins, eager, rules, labels, titles, points)
    return framed(layers, height=LANE * max(len(solvers), 1), width="container", description=spoken)


def _said(within: bool, t: int) -> str:
    return f"{WITHIN if within else NOT_WITHIN} t = {t}"
