"""Show where an output is wrong: the error map as an Altair chart, and the worst element's surroundings as tables."""

import math
from collections.abc import Sequence
from typing import Any

from passnet_core.charts.library import alt, framed
from passnet_core.charts.places import index_of, where
from passnet_core.records import ErrorMap, Neighbourhood, OutputAccuracy

RIGHT_COLOUR = "#8a8a8a"
COLOURS = ("#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""The brighter part of viridis: its lightness grows steadily, and it is visible on light and on dark pages."""
NOT_FINITE_COLOUR = "#d55e00"
CELL, LEAST_HEIGHT, MOST_HEIGHT = 7, 28, 240
MOST_SCALED = 1e6
"""Errors of this many times the bound, and larger ones, all have the brightest colour."""
STATES = ("right", "wrong", "not finite")
TOOLTIPS = (
    alt.Tooltip("from:N", title="from"),
    alt.Tooltip("to:N", title="to"),
    alt.Tooltip("said:N", title="largest error"),
)
WORST, WRONG = "▶", "✗"
"""The signs before the worst element, and before other wrong ones."""


def strip_chart(found: OutputAccuracy) -> alt.LayerChart:
    """Draw the error map of an output that has one: per cell the largest error over its bound, on a logarithmic scale.

    Right cells are grey. Cells with NaN or infinity have a colour of their own and a cross."""
    spots = found.map
    assert spots is not None
    x, y = _axes(spots, found.shape)
    rows = cells(spots, found.shape)
    of = {state: [row for row in rows if row["state"] == state] for state in STATES}

    def rectangles(state: str) -> alt.Chart:
        edges = {"x": alt.X("x:Q", **x), "x2": "x2:Q", "y": alt.Y("y:Q", **y), "y2": "y2:Q"}
        return alt.Chart(alt.Data(values=of[state])).mark_rect().encode(**edges, tooltip=TOOLTIPS)

    layers: list[alt.Chart] = []
    if of["right"]:
        layers.append(rectangles("right").mark_rect(color=RIGHT_COLOUR, opacity=0.15))
    if of["wrong"]:
        domain = [1, min(max(10.0, *(row["error"] for row in of["wrong"])), MOST_SCALED)]
        colour = alt.Color(
            "error:Q",
            title="error / allowed error",
            scale=alt.Scale(type="log", domain=domain, clamp=True, range=list(COLOURS)),
            legend=alt.Legend(orient="bottom", direction="horizontal", gradientLength=180, format="~s", tickCount=4),
        )
        layers.append(rectangles("wrong").encode(color=colour))
    if of["not finite"]:
        layers.append(rectangles("not finite").mark_rect(color=NOT_FINITE_COLOUR))
        crosses = alt.Chart(alt.Data(values=of["not finite"])).mark_text(
            text="×", color="white", fontSize=8, fontWeight="bold"
        )
        layers.append(crosses.encode(x=alt.X("middle:Q", **x), y=alt.Y("centre:Q", **y), tooltip=TOOLTIPS))
    height = max(LEAST_HEIGHT, min(MOST_HEIGHT, CELL * spots.rows))
    spoken = f"Error map of output {found.output}. Wrong: {where(found)}."
    return framed(alt.layer(*layers), height=height, width="container", description=spoken)


def _axes(spots: ErrorMap, shape: Sequence[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Altair's arguments for the axes: columns from left to right, rows from top to bottom; one row has no axis."""
    width, height = math.prod(shape[spots.axis :]), math.prod(shape[: spots.axis])
    axis = alt.Axis(format="d", grid=False, tickMinStep=1)
    across = {"title": _axis_title("column", spots.axis, len(shape), shape), "axis": axis}
    down = {"title": _axis_title("row", 0, spots.axis, shape), "axis": axis} if height > 1 else {"axis": None}
    return (
        {**across, "scale": alt.Scale(domain=[0, width], nice=False)},
        {**down, "scale": alt.Scale(domain=[height, 0], nice=False)},
    )


def cells(spots: ErrorMap, shape: Sequence[int]) -> list[dict[str, Any]]:
    """One row per cell of the error map: its edges, its error, and the indices of its first and last element."""
    width, height = math.prod(shape[spots.axis :]), math.prod(shape[: spots.axis])
    across, down = math.ceil(width / spots.columns), math.ceil(height / spots.rows)
    found = []
    for place, error in enumerate(spots.cells):
        row, column = divmod(place, spots.columns)
        x, y = column * across, row * down
        x2, y2 = min(x + across, width), min(y + down, height)
        state = "right" if error <= 1 else "wrong" if math.isfinite(error) else "not finite"
        found.append(
            {
                "x": x,
                "x2": x2,
                "y": y,
                "y2": y2,
                "middle": (x + x2) / 2,
                "centre": (y + y2) / 2,
                "state": state,
                "error": error if state == "wrong" else None,
                "said": said(error),
                "from": str(index_of(y * width + x, shape)),
                "to": str(index_of((y2 - 1) * width + x2 - 1, shape)),
            }
        )
    return found


def said(error: float) -> str:
    """An error, given as a multiple of its bound, in words."""
    if not math.isfinite(error):
        return "NaN or infinity in only one of the two outputs"
    return f"{error:.2g} times the allowed error" if error > 1 else f"right: {error:.0%} of the allowed error"


def tables(around: Neighbourhood, worst: Sequence[int]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Two tables of the elements around the worst one, as lists of rows: expected values, and actual ones with the
    signs WORST and WRONG before wrong elements."""
    first = (0, 0, *around.first)[-2:]
    at = (0, 0, *worst)[-2:]
    expected: list[dict[str, str]] = []
    actual: list[dict[str, str]] = []
    for row, (wanted, given, wrong) in enumerate(zip(around.expected, around.actual, around.wrong)):
        signs = [
            WORST if (first[0] + row, first[1] + column) == at else WRONG if off else ""
            for column, off in enumerate(wrong)
        ]
        name = {"row": str(first[0] + row)} if len(around.first) > 1 else {}
        for table, values, marks in ((expected, wanted, [""] * len(signs)), (actual, given, signs)):
            shown = {
                str(first[1] + column): f"{mark} {value:.5g}".strip()
                for column, (value, mark) in enumerate(zip(values, marks))
            }
            table.append({**name, **shown})
    return expected, actual


def _axis_title(name: str, begin: int, end: int, shape: Sequence[int]) -> str:
    """The title of an axis of the map, as "column" or "row (axes 0 to 2, flattened)"."""
    axes = [axis for axis in range(begin, end) if shape[axis] > 1] or [begin]
    if len(axes) == 1:
        return name if len(shape) <= 2 else f"{name} (axis {axes[0]})"
    return f"{name} (axes {axes[0]} to {axes[-1]}, flattened)"
