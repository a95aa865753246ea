"""The card of a run, which a chat or a social network shows for a link to it: a verdict and bars."""

from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.charts.downloads import rendered

PADDING = 60
BAR = 64
BAR_COLOUR, INK, QUIET = "#0b62a4", "#1b2430", "#4a5361"
LONGEST = 60


@dataclass(frozen=True)
class PreviewBar:
    """A bar of a preview. label: what is written at its end, such as "14.2 µs"."""

    name: str
    value: float
    label: str


def preview(headline: str, lines: Sequence[str], bars: Sequence[PreviewBar], axis: str, kind: str) -> bytes:
    """Return the picture as a file of this kind, "png" or "svg". lines: below the headline. bars: at most five are
    shown. axis: what they measure."""
    from passnet_core.charts.library import alt  # the app's entry imports this module, and altair takes a second

    rows = [{"name": each.name[:LONGEST], "value": each.value, "label": each.label} for each in bars[:5]]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelFontSize=26, labelLimit=420, labelColor=INK))
    )
    x = alt.X(
        "value:Q",
        title=axis,
        axis=alt.Axis(labels=False, ticks=False, grid=False, titleFontSize=22, titleFontWeight="normal"),
    )
    chart = alt.layer(
        base.mark_bar(color=BAR_COLOUR).encode(x=x),
        base.mark_text(align="left", dx=8, fontSize=26, color=INK).encode(x=x, text="label:N"),
    ).properties(
        width=620,
        height=max(BAR * len(rows), 1),
        background="white",
        padding={"left": PADDING, "top": PADDING, "right": PADDING, "bottom": PADDING},
        title=alt.Title(
            headline[:LONGEST],
            subtitle=[line[: 2 * LONGEST] for line in lines],
            anchor="start",
            frame="bounds",
            fontSize=52,
            color=INK,
            subtitleFontSize=26,
            subtitleColor=QUIET,
            subtitleLineHeight=36,
            subtitlePadding=16,
            offset=40,
        ),
    )
    return rendered(chart.configure_view(stroke=None), kind)
