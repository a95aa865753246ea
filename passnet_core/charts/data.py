"""Rows as the data of a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from passnet_core.charts.library import alt

FEW = 300

# a chart of a thousand subgraphs and several solvers has more than the 5,000 rows that are allowed at first
alt.data_transformers.disable_max_rows()


def data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows: few as they are, many as a table, since altair checks every value that it is given one by one."""
    return alt.Data(values=list(rows)) if len(rows) <= FEW else pa.Table.from_pylist(list(rows))
