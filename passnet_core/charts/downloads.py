"""Make the downloads of a chart: its picture, and the rows behind it as CSV."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who writes only CSV needs no altair
    from passnet_core.charts.library import alt

KINDS: Mapping[str, str] = {"svg": "image/svg+xml", "png": "image/png"}
WIDTH = 900
"""The width of a picture in pixels; on a page, a chart takes the page's width."""


def picture(chart: "alt.LayerChart", kind: str, *, title: str, caption: Sequence[str] = ()) -> bytes:
    """Render the chart on white, with title and caption, as a file of this kind: offline, in about a second."""
    from passnet_core.charts.library import alt

    words = alt.Title(title, subtitle=list(caption), anchor="start", offset=14, limit=WIDTH, subtitleLineHeight=14)
    whole = chart.properties(width=WIDTH, background="white", padding=16, title=words)
    return rendered(whole, kind, **({"scale_factor": 2} if kind == "png" else {}))


def rendered(chart: "alt.LayerChart", kind: str, **options: Any) -> bytes:
    """The chart as a file of this kind."""
    made = io.BytesIO() if kind == "png" else io.StringIO()
    chart.save(made, format=kind, **options)
    found = made.getvalue()
    return found if isinstance(found, bytes) else found.encode()


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as CSV, with the keys of the first row as header. None becomes an empty cell.

    A text that a spreadsheet would read as a formula gets an apostrophe in front."""
    if not rows:
        return ""
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return made.getvalue()


def file_stem(*pieces: str) -> str:
    """Join the pieces to a safe file name: letters, digits, dots, dashes and equals signs."""
    return "-".join(slug for piece in pieces if (slug := re.sub(r"[^A-Za-z0-9.=-]+", "-", piece).strip("-.")[:60]))


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
