"""Import altair, which takes most of a second. Modules of this folder that make only words do not need it."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

# altair fails while another thread is still importing pandas, as a page's tables do
importlib.import_module("pandas")

import altair as alt  # noqa: E402
import pyarrow as pa  # noqa: E402

__all__ = ["EDGE", "TEXT", "alt", "data_of", "framed", "legend_columns", "nearest"]

# a chart of a thousand subgraphs and several solvers has more than the 5,000 rows of altair's default limit
alt.data_transformers.disable_max_rows()

TEXT = "currentColor"
"""The colour of text around the chart, on a light page and on a dark one; black in a file."""
EDGE = "#888888"
"""Lines that are read with the help of words: eager, a diagonal, a median."""
LETTER, SYMBOL = 7, 44
"""About the width of a legend's letter, and of its symbol with the gaps around it, in pixels."""

FEW = 300
"""Up to this many rows are passed to altair as they are."""

Drawn = TypeVar("Drawn", bound=alt.TopLevelMixin)


def data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Few rows as values, many as a pyarrow table: altair validates values one by one, which is slow."""
    return alt.Data(values=list(rows)) if len(rows) <= FEW else pa.Table.from_pylist(list(rows))


def framed(chart: Drawn, **properties: Any) -> Drawn:
    """Give a chart what all have in common: words in the colour of text, and a width that follows the page while the
    height is that of the plot alone."""
    words = {"labelColor": TEXT, "titleColor": TEXT}
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    made: Drawn = chart.configure_axis(**words).configure_legend(**words).properties(autosize=fit, **properties)
    return made


def legend_columns(names: Sequence[str], limit: int) -> Any:
    """Return the columns of a legend above a chart: all in one row if the chart is wide enough. limit: of a label's
    width in pixels."""
    widest = min(limit, LETTER * max(map(len, names), default=1)) + SYMBOL
    return alt.ExprRef(f"max(1, min({max(len(names), 1)}, floor(width / {widest})))")


def nearest(name: str) -> alt.Parameter:
    """Return the selection of the point next to the pointer, which shows its tooltip from anywhere in the plot."""
    return alt.selection_point(name=name, on="pointerover", nearest=True, empty=False, clear="pointerout")
