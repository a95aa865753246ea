"""Reads clicks on charts."""

from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.charts.curves import POINT


def picked_point(selection: Mapping[str, Any], levels: Sequence[int]) -> tuple[str, int] | None:
    """Return solver and t of the point that was clicked in a chart of curves; None for no point at these levels.

    selection: from Streamlit, {"point": [{"solver": …, "t": …}]}.
    """
    for each in selection.get(POINT) or ():
        if each.get("t") in levels and "solver" in each:
            return str(each["solver"]), int(each["t"])
    return None
