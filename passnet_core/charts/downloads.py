"""What can be taken away from a chart: its picture, and the rows behind it as text."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.charts.library import alt

KINDS: Mapping[str, str] = {"svg": "image/svg+xml", "png": "image/png"}
WIDTH = 900
"""Of a picture, in pixels; the page gives a chart its own width."""


def picture(chart: alt.LayerChart, kind: str, *, title: str, caption: Sequence[str] = ()) -> bytes:
    """The chart as a file of that kind, on white, with title and caption. It takes about a second and no network."""
    words = alt.Title(title, subtitle=list(caption), anchor="start", offset=14, limit=WIDTH, subtitleLineHeight=14)
    whole = chart.properties(width=WIDTH, background="white", padding=16, title=words)
    made = io.BytesIO() if kind == "png" else io.StringIO()
    whole.save(made, format=kind, **({"scale_factor": 2} if kind == "png" else {}))
    found = made.getvalue()
    return found if isinstance(found, bytes) else found.encode()


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as CSV with the names of the first as header; None is empty.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    if not rows:
        return ""
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return made.getvalue()


def file_stem(*pieces: str) -> str:
    """The pieces as the name of a file, whatever they hold: letters, digits, dots, dashes."""
    return "-".join(slug for piece in pieces if (slug := re.sub(r"[^A-Za-z0-9.=-]+", "-", piece).strip("-.")[:60]))


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
