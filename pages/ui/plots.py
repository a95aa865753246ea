"""Draws charts once, reads clicks on them, and leaves the page for what was clicked."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import streamlit as st

from pages.ui import links
from passnet_core.charts.curves import POINT

LEAVING = "page that a click asked for"
KEPT_CHARTS = 256


def described(draw: "functools.partial[alt.LayerChart]") -> dict[str, Any]:
    """Return what a chart is, in Vega-Lite's words, for st.vega_lite_chart. draw: draws it of its arguments.

    Altair takes a tenth of a second to make a chart and to check it, so the same one is made once for all visitors."""
    return _described(f"{draw.func.__module__}.{draw.func.__qualname__}", draw.args, draw)


@st.cache_data(show_spinner=False, max_entries=KEPT_CHARTS)
def _described(
    function: str, arguments: Sequence[object], _draw: "functools.partial[alt.LayerChart]"
) -> dict[str, Any]:
    # Streamlit takes no notice of what begins with an underscore; the function's name and its arguments tell all
    chart: dict[str, Any] = _draw().to_dict()
    # the theme's size; the page gives one
    chart["config"].pop("view", None)
    return chart


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


def leave_for(page: links.Name, selected: Mapping[str, str]) -> None:
    """Open another page with these parameters at the next leave_if_asked. Call it from a callback, in which Streamlit
    cannot switch pages."""
    st.session_state[LEAVING] = page, dict(selected)


def leave_if_asked() -> None:
    """Open the page that a click asked for. Call it before a widget is drawn that is bound to the URL."""
    if asked := st.session_state.pop(LEAVING, None):
        page, selected = asked
        # Explore has a parameter of this name too, and would show it as its own
        st.session_state.pop("view", None)
        st.switch_page(links.script(page), query_params=selected)
