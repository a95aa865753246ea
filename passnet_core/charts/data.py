"""Turn rows into the data of a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from passnet_core.charts.library import alt

FEW = 300
"""Up to this many rows are passed to altair as they are."""

# a chart of a thousand subgraphs and several solvers has more than the 5,000 rows of altair's default limit
alt.data_transformers.disable_max_rows()


def data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Few rows as values, many as a pyarrow table: altair validates values one by one, which is slow."""
    return alt.Data(values=list(rows)) if len(rows) <= FEW else pa.Table.from_pylist(list(rows))
