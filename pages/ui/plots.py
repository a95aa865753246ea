"""What a click on a chart means."""

from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.charts.curves import POINT


def picked_point(selection: Mapping[str, Any], levels: Sequence[int]) -> tuple[str, int] | None:
    """The solver and the t of the point that was clicked in a chart of curves; None: no point, or none of these levels.

    selection: as Streamlit gives it, {"point": [{"solver": …, "t": …}]}.
    """
    for each in selection.get(POINT) or ():
        if each.get("t") in levels and "solver" in each:
            return str(each["solver"]), int(each["t"])
    return None
