"""The Altair chart of the shares of which groups are made up."""

from collections.abc import Mapping, Sequence

from passnet_core.charts.library import alt, framed, legend_columns

COLOURS = ("#D55E00", "#999999", "#0072B2")
"""Vermilion and blue of Okabe and Ito, with grey between: colour-blind readers can tell them apart."""
ROW = 30
LABEL = 240
"""The most pixels that a label takes."""
PART = "part"
"""The selection that a click on a part of a bar makes; its fields are name and part."""


def share_chart(groups: Sequence[tuple[str, Mapping[str, int]]], title: str) -> alt.LayerChart:
    """One bar per group, divided in proportion to its counts, with the count in each part.

    groups: (name, counts by part); all have the parts of the first one, and none is empty. title: what the groups are.
    """
    parts = list(groups[0][1])
    rows = []
    for name, counts in groups:
        total, begin = sum(counts.values()), 0.0
        for place, part in enumerate(parts):
            share = counts[part] / total
            row = {
                "group": f"{name} ({total})",
                "name": name,
                "part": part,
                "place": place,
                "count": counts[part],
                "share": share,
            }
            # only a wide part has room for its count
            label = f"{counts[part]}" if share > 0.04 else ""
            rows.append(row | {"begin": begin, "end": begin + share, "middle": begin + share / 2, "label": label})
            begin += share
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("group:N", title=title, sort=None, axis=alt.Axis(labelLimit=LABEL)),
    )
    chosen = alt.selection_point(name=PART, fields=["name", "part"], on="click", empty=True)
    bars = base.mark_bar(cursor="pointer").encode(
        x=alt.X(
            "begin:Q",
            title="share of subgraphs",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2="end:Q",
        color=alt.Color(
            "part:N",
            title=None,
            sort=parts,
            scale=alt.Scale(domain=parts, range=list(COLOURS[: len(parts)])),
            legend=alt.Legend(orient="top", columns=legend_columns(parts, LABEL)),
        ),
        tooltip=[
            alt.Tooltip("group:N", title=title),
            alt.Tooltip("part:N", title="Inductor is"),
            alt.Tooltip("count:Q", title="subgraphs"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    numbers = base.mark_text(color="white", fontWeight="bold", cursor="pointer").encode(x="middle:Q", text="label:N")
    spoken = f"Shares of subgraphs by {title}: {', '.join(parts)}. The table below has the same figures."
    layers = alt.layer(bars.add_params(chosen), numbers)
    return framed(layers, height=ROW * len(groups), width="container", description=spoken)
