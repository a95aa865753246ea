"""The Altair chart that compares the speedups of two runs, clock by clock."""

from collections.abc import Sequence

from passnet_core.charts.library import EDGE, TEXT, alt
from passnet_core.records import Speedup

LOOKS = {"then": ("#7f7f7f", "circle"), "now": ("#0072b2", "diamond")}
"""Colour and shape of each side; either alone tells them apart."""


def pair_chart(speedups: Sequence[tuple[str, Speedup]]) -> alt.FacetChart:
    """A point with its 95% interval per clock and side, and a line at eager's 1. speedups: (side in LOOKS, speedup)."""
    rows = [
        {"side": side, "clock": each.clock.value, "speedup": each.value, "low": each.low, "high": each.high}
        for side, each in speedups
    ]
    clocks = list(dict.fromkeys(row["clock"] for row in rows))
    sides = [side for side in LOOKS if any(row["side"] == side for row in rows)]
    colours, shapes = zip(*(LOOKS[side] for side in sides))
    base = alt.Chart().encode(
        y=alt.Y("side:N", title=None, sort=sides),
        color=alt.Color("side:N", legend=None, scale=alt.Scale(domain=sides, range=list(colours))),
        tooltip=[
            alt.Tooltip("side:N"),
            alt.Tooltip("speedup:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f", title="95% from"),
            alt.Tooltip("high:Q", format=".3f", title="to"),
        ],
    )
    span = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("low:Q", title="speedup over eager", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    point = base.mark_point(filled=True, size=110, opacity=1).encode(
        x="speedup:Q", shape=alt.Shape("side:N", legend=None, scale=alt.Scale(domain=sides, range=list(shapes)))
    )
    eager = alt.Chart().mark_rule(strokeDash=[4, 4], color=EDGE, aria=False).encode(x=alt.datum(1))
    layers = alt.layer(eager, span, point).properties(height=26 * len(sides), width=520)
    words = {"labelColor": TEXT, "titleColor": TEXT}
    facets = layers.facet(row=alt.Row("clock:N", title=None, sort=clocks), data=alt.Data(values=rows))
    return facets.configure_axis(**words).configure_header(**words)
