"""Show how many bytes eager moves for each operation of a graph, up to one of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.charts.library import alt, framed

READ_COLOUR, WRITTEN_COLOUR = "#3b82c4", "#d97706"
ROW = 22
"""The height of a bar with the gap below it, in pixels."""
READ, WRITTEN = "read", "written"


@dataclass(frozen=True)
class OperationTraffic:
    """The bytes that eager reads and writes for one operation. A view moves none."""

    node: str
    operation: str
    read: int
    written: int

    @property
    def moved(self) -> int:
        return self.read + self.written


def traffic_chart(steps: Sequence[OperationTraffic], done: int) -> alt.LayerChart:
    """Draw a bar for each operation. done: how many are computed; the others are faint."""
    order = [f"{each.node} · {each.operation}" for each in steps]
    rows: list[dict[str, Any]] = [
        {"operation": name, "what": what, "rank": rank, "kB": size / 1e3, "faint": index >= done}
        for index, (name, each) in enumerate(zip(order, steps))
        for rank, (what, size) in enumerate(((READ, each.read), (WRITTEN, each.written)))
    ]
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(height=ROW - 8)
        .encode(
            y=alt.Y("operation:N", sort=order, title=None),
            x=alt.X("kB:Q", title="kB moved", stack="zero"),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=[READ, WRITTEN], range=[READ_COLOUR, WRITTEN_COLOUR]),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("rank:Q"),
            opacity=alt.condition("datum.faint", alt.value(0.25), alt.value(1.0)),
            tooltip=[alt.Tooltip("operation:N"), alt.Tooltip("what:N"), alt.Tooltip("kB:Q", format=",.1f")],
        )
    )
    return framed(
        alt.layer(bars), height=ROW * max(len(steps), 1), width="container", description=traffic_words(steps, done)
    )


def traffic_words(steps: Sequence[OperationTraffic], done: int) -> str:
    """What the chart shows, in a sentence."""
    if not done:
        return f"Eager computes {len(steps)} operations, one after the other. Move the slider to compute the first."
    last = steps[done - 1]
    moved = sum(each.moved for each in steps[:done])
    own = f"reads {_kilo(last.read)} and writes {_kilo(last.written)}" if last.moved else "moves nothing: it is a view"
    return f"Operation {done} of {len(steps)}, {last.node} ({last.operation}), {own}; {_kilo(moved)} so far."


def _kilo(size: int) -> str:
    return f"{size / 1e3:,.1f} kB"
