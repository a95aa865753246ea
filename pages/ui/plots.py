"""Reads clicks on charts."""

from collections.abc import Iterable, Mapping, Sequence
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


def picked_fields(picked: Iterable[Mapping[str, Any]] | None, fields: Sequence[str]) -> tuple[str, ...]:
    """Return the values of these fields of what was clicked in a chart; empty if nothing was.

    picked: from Streamlit, [{field: value}].
    """
    for each in picked or ():
        if all(field in each for field in fields):
            return tuple(str(each[field]) for field in fields)
    return ()
