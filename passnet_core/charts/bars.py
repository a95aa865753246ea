"""The Altair chart of what single subgraphs count as in ES(t)."""

from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.charts.library import EDGE, TEXT, alt, framed

BAR = "bar"
"""The selection that a click on a row makes; its fields are task and subgraph."""
BELOW, ABOVE = "#D55E00", "#0072B2"
"""Vermilion and blue of Okabe and Ito. The bar's direction and the words say the same without colour."""
ROW = 40
TICKS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Bar:
    """One subgraph. factor: what it counts as, above 0. said: verdict and factor in words. beside: text at the
    right."""

    task_id: str
    subgraph_id: str
    factor: float
    said: str
    beside: str


def bar_chart(bars: Sequence[Bar], t: int) -> alt.LayerChart:
    """One row per subgraph, in the given order: words, and below them a bar from 1 to the factor, logarithmic."""
    rows = [
        {
            "row": place,
            "task": bar.task_id,
            "subgraph": bar.subgraph_id,
            "factor": bar.factor,
            "eager": 1.0,
            "said": f"{bar.said} · {bar.task_id} · {bar.subgraph_id}",
            "beside": bar.beside,
            "colour": BELOW if bar.factor < 1 else ABOVE,
            "zebra": 0.07 * (place % 2 == 0),
        }
        for place, bar in enumerate(bars)
    ]
    low = min(0.9, *(bar.factor for bar in bars)) / 1.03 if bars else 0.9
    high = max(1.1, *(bar.factor for bar in bars)) * 1.03 if bars else 1.1
    ticks = [tick for tick in TICKS if low <= tick <= high]
    x = alt.X(
        "factor:Q",
        title=f"what a subgraph counts as in ES({t}), logarithmic (eager = 1)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks, format="~g", orient="top", labelOverlap=True),
    )
    chosen = alt.selection_point(name=BAR, fields=["task", "subgraph"], on="click", empty=True)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
        tooltip=[
            alt.Tooltip("task:N"),
            alt.Tooltip("subgraph:N"),
            alt.Tooltip("factor:Q", title="counts as", format=".4g"),
            alt.Tooltip("said:N", title="result"),
            alt.Tooltip("beside:N", title=f"ES({t})"),
        ],
    )
    band = (
        base.mark_rect(color=EDGE, cursor="pointer")
        .encode(x=alt.value(0), x2=alt.value("width"), opacity=alt.Opacity("zebra:Q", scale=None))
        .add_params(chosen)
    )
    bar = base.mark_bar(size=8, yOffset=9).encode(x=x, x2="eager:Q", color=alt.Color("colour:N", scale=None))
    end = base.mark_tick(size=12, thickness=2, yOffset=9).encode(x=x, color=alt.Color("colour:N", scale=None))
    left = base.mark_text(
        align="left",
        baseline="middle",
        dx=5,
        dy=-8,
        fontSize=12,
        color=TEXT,
        limit=alt.expr("width - 125"),
        cursor="pointer",
    ).encode(x=alt.value(0), text="said:N")
    right = base.mark_text(
        align="right", baseline="middle", dx=-5, dy=-8, fontSize=12, color=TEXT, cursor="pointer"
    ).encode(x=alt.value("width"), text="beside:N")
    eager = alt.Chart(alt.Data(values=[{"factor": 1.0}])).mark_rule(color=EDGE, strokeDash=[3, 3]).encode(x=x)
    spoken = f"What {len(rows)} subgraphs count as in ES({t}), the worst first. The table below has the same figures."
    layers = alt.layer(band, eager, bar, end, left, right)
    return framed(layers, height=ROW * max(len(rows), 1), width="container", description=spoken)
