"""Where an output is wrong: as an Altair chart, and as small tables."""

import math
from collections.abc import Sequence
from typing import Any

from passnet_core.charts.library import alt
from passnet_core.charts.places import where
from passnet_core.records import ErrorMap, Neighbourhood, OutputAccuracy

RIGHT_COLOUR = "#8a8a8a"
COLOURS = ("#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""The brighter part of viridis: ever lighter for colour-blind readers too, and seen on light and on dark pages."""
NOT_FINITE_COLOUR = "#d55e00"
CELL, LEAST_HEIGHT, MOST_HEIGHT = 7, 28, 240
AROUND = 130
"""What the axis, its title and the legend take of the height."""
MOST_TOLD = 1e6
"""Errors above it have the brightest colour too."""
STATES = ("right", "wrong", "not finite")
TOLD = (
    alt.Tooltip("from:N", title="from"),
    alt.Tooltip("to:N", title="to"),
    alt.Tooltip("said:N", title="largest error"),
)
WORST, WRONG = "▶", "✗"
"""Signs of the worst element and of others that are wrong."""


def strip_chart(found: OutputAccuracy) -> alt.LayerChart:
    """The largest error of each cell over what is allowed there, on a logarithmic scale; the output has a map.

    What is not finite has a cross besides its colour, what is right is grey.
    """
    spots = found.map
    assert spots is not None
    x, y = _axes(spots, found.shape)
    rows = cells(spots, found.shape)
    of = {state: [row for row in rows if row["state"] == state] for state in STATES}

    def rectangles(state: str) -> alt.Chart:
        edges = {"x": alt.X("x:Q", **x), "x2": "x2:Q", "y": alt.Y("y:Q", **y), "y2": "y2:Q"}
        return alt.Chart(alt.Data(values=of[state])).mark_rect().encode(**edges, tooltip=TOLD)

    layers: list[alt.Chart] = []
    if of["right"]:
        layers.append(rectangles("right").mark_rect(color=RIGHT_COLOUR, opacity=0.15))
    if of["wrong"]:
        domain = [1, min(max(10.0, *(row["error"] for row in of["wrong"])), MOST_TOLD)]
        colour = alt.Color(
            "error:Q",
            title="error over what is allowed",
            scale=alt.Scale(type="log", domain=domain, clamp=True, range=list(COLOURS)),
            legend=alt.Legend(orient="bottom", direction="horizontal", gradientLength=180, format="~s", tickCount=4),
        )
        layers.append(rectangles("wrong").encode(color=colour))
    if of["not finite"]:
        layers.append(rectangles("not finite").mark_rect(color=NOT_FINITE_COLOUR))
        crosses = alt.Chart(alt.Data(values=of["not finite"])).mark_text(
            text="×", color="white", fontSize=8, fontWeight="bold"
        )
        layers.append(crosses.encode(x=alt.X("middle:Q", **x), y=alt.Y("centre:Q", **y), tooltip=TOLD))
    height = max(LEAST_HEIGHT, min(MOST_HEIGHT, CELL * spots.rows)) + AROUND
    spoken = f"Errors of output {found.output}, wrong: {where(found)}."
    return alt.layer(*layers).properties(height=height, width="container", description=spoken)


def _axes(spots: ErrorMap, shape: Sequence[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns from left to right and rows from top to bottom, as altair wants them; one row needs no axis."""
    width, height = math.prod(shape[spots.axis :]), math.prod(shape[: spots.axis])
    axis = alt.Axis(format="d", grid=False, tickMinStep=1)
    across = {"title": _axis_title("column", spots.axis, len(shape), shape), "axis": axis}
    down = {"title": _axis_title("row", 0, spots.axis, shape), "axis": axis} if height > 1 else {"axis": None}
    return (
        {**across, "scale": alt.Scale(domain=[0, width], nice=False)},
        {**down, "scale": alt.Scale(domain=[height, 0], nice=False)},
    )


def cells(spots: ErrorMap, shape: Sequence[int]) -> list[dict[str, Any]]:
    """One row for each cell of a map, as the chart draws it: its edges, its error, and its first and last element."""
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
                "from": str(_index(y * width + x, shape)),
                "to": str(_index((y2 - 1) * width + x2 - 1, shape)),
            }
        )
    return found


def said(error: float) -> str:
    """An error over what is allowed, in words."""
    if not math.isfinite(error):
        return "NaN or infinity, on one side only"
    return f"{error:.2g} times what is allowed" if error > 1 else f"right: {error:.0%} of what is allowed"


def tables(around: Neighbourhood, worst: Sequence[int]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """What is expected around the worst element, and what is there, one row each as a table wants it. Wrong elements
    have a sign, the worst one another."""
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


def _index(place: int, shape: Sequence[int]) -> list[int]:
    found: list[int] = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        found.append(rest)
    return found[::-1]


def _axis_title(name: str, begin: int, end: int, shape: Sequence[int]) -> str:
    """Which axes run along: "column", or "axes 0 to 2, one after the other"."""
    axes = [axis for axis in range(begin, end) if shape[axis] > 1] or [begin]
    if len(axes) == 1:
        return name if len(shape) <= 2 else f"{name} (axis {axes[0]})"
    return f"{name} (axes {axes[0]} to {axes[-1]}, one after the other)"
