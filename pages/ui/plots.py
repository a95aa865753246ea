"""Chart specifications that the pages draw beside those of passnet_core.charts."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from passnet_core.charts.curves import POINT
from passnet_core.records import Clock, Contender, Timing

NAMES: Mapping[Contender, str] = {
    Contender.EAGER: "eager",
    Contender.BASELINE: "TorchInductor",
    Contender.PASSES: "passes",
}
COLOURS = {"eager": "#7f7f7f", "TorchInductor": "#e69f00", "passes": "#0072b2"}
SHOWN = 200
"""Most marks per contender and clock: every n-th sample beyond that."""


def samples_chart(timings: Sequence[Timing]) -> alt.FacetChart:
    """Raw samples of every contender, one row of strips per clock, on axes of their own."""
    rows = [
        {"who": NAMES[each.contender], "clock": each.clock.value, "us": sample}
        for each in timings
        for sample in each.samples[:: max(1, len(each.samples) // SHOWN)]
    ]
    present = [name for name in COLOURS if any(row["who"] == name for row in rows)]
    strips = (
        alt.Chart(alt.Data(values=rows))
        .mark_tick(thickness=1.5, opacity=0.55, size=14)
        .encode(
            x=alt.X("us:Q", title="µs per call", scale=alt.Scale(zero=False)),
            y=alt.Y("who:N", title=None, sort=present),
            color=alt.Color(
                "who:N", legend=None, scale=alt.Scale(domain=present, range=[COLOURS[name] for name in present])
            ),
            tooltip=[alt.Tooltip("who:N"), alt.Tooltip("us:Q", format=".2f", title="µs")],
        )
        .properties(height=24 * len(present), width=620)
    )
    clocks = [clock.value for clock in Clock if any(each.clock is clock for each in timings)]
    return strips.facet(row=alt.Row("clock:N", title=None, sort=clocks)).resolve_scale(x="independent")


def picked_point(selection: Mapping[str, Any], levels: Sequence[int]) -> tuple[str, int] | None:
    """The solver and the t of the point that was clicked in a chart of curves; None: no point, or none of these levels.

    selection: as Streamlit gives it, {"point": [{"solver": …, "t": …}]}.
    """
    for each in selection.get(POINT) or ():
        if each.get("t") in levels and "solver" in each:
            return str(each["solver"]), int(each["t"])
    return None
