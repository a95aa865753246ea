"""Altair charts of an outcome's times: where a call spends its time, the speedups, and the raw samples."""

from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.charts.breakdown import Breakdown, Piece, quartiles
from passnet_core.charts.contenders import ContenderLook, run_looks
from passnet_core.charts.library import EDGE, TEXT, alt, framed, legend_columns
from passnet_core.records import CONTENDER_NAMES, Clock, Contender, Outcome, Timing

LABELS = 210
"""The most pixels that a contender's name takes."""
PART_LABEL = 160
PART_COLOURS: Mapping[Piece, str] = {
    Piece.KERNELS: "#0072b2",
    Piece.LAUNCH: "#56b4e9",
    Piece.HOST: "#e69f00",
    Piece.DEVICE: "#56b4e9",
    Piece.RETURN: "#bbbbbb",
}
"""Okabe and Ito's colours, of different lightness; numbers and their order tell the parts apart as well."""
WHITE_ON = (Piece.KERNELS,)
FLOOR_COLOUR = "#d55e00"
SHOWN = 200
"""About how many samples are shown per contender and clock: of more, every n-th one."""
LEAST_LABELLED = 0.07
"""A part of at least this share of the longest bar has room for its number."""
LANE, LANES = 34, 7
"""The height of one contender's lane in pixels, and the rows of points that it is divided into."""


def breakdown_chart(
    found: Sequence[Breakdown], floor_us: float | None, names: Mapping[Contender, str] = CONTENDER_NAMES
) -> alt.LayerChart:
    """One bar per contender for its end-to-end time, divided into parts, with the memory floor as a line. names: of the
    contenders."""
    parts = [part for part in Piece if any(each.parts.get(part, 0.0) > 0 for each in found)]
    longest = max(each.total_us for each in found)
    rows = []
    for each in found:
        begin = 0.0
        for part in parts:
            us = each.parts.get(part, 0.0)
            label = f"{us:.3g}" if us >= LEAST_LABELLED * longest else ""
            row = {"who": names[each.contender], "part": part.value, "us": us, "share": each.share(part)}
            rows.append(row | {"begin": begin, "end": begin + us, "middle": begin + us / 2, "label": label})
            begin += us
    order = [names[each.contender] for each in found]
    x: dict[str, Any] = {
        "title": "µs per call, end to end",
        "scale": alt.Scale(domain=[0, longest * 1.1], nice=False),
        "axis": alt.Axis(grid=False),
    }
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("who:N", title=None, sort=order, axis=alt.Axis(labelLimit=LABELS))
    )
    bars = base.mark_bar(stroke="white", strokeWidth=1).encode(
        x=alt.X("begin:Q", **x),
        x2="end:Q",
        color=alt.Color(
            "part:N",
            title=None,
            sort=[part.value for part in parts],
            scale=alt.Scale(domain=[part.value for part in parts], range=[PART_COLOURS[part] for part in parts]),
            legend=alt.Legend(orient="top", columns=legend_columns(parts, PART_LABEL), labelLimit=PART_LABEL),
        ),
        tooltip=[
            alt.Tooltip("who:N", title="contender"),
            alt.Tooltip("part:N", title="part"),
            alt.Tooltip("us:Q", title="µs", format=".3g"),
            alt.Tooltip("share:Q", title="share of the call", format=".0%"),
        ],
    )
    layers: list[alt.Chart] = [bars]
    for white in (True, False):
        shown = [row for row in rows if row["label"] and (row["part"] in WHITE_ON) == white]
        layers.append(
            alt.Chart(alt.Data(values=shown))
            .mark_text(color="white" if white else "black", fontWeight="bold")
            .encode(x="middle:Q", y=alt.Y("who:N", sort=order), text="label:N")
        )
    totals = [{"who": names[each.contender], "end": each.total_us, "label": f"{each.total_us:.3g}"} for each in found]
    layers.append(
        alt.Chart(alt.Data(values=totals))
        .mark_text(align="left", dx=4, color=TEXT)
        .encode(x="end:Q", y=alt.Y("who:N", sort=order), text="label:N")
    )
    if floor_us is not None and floor_us <= longest * 1.1:
        layers.append(
            alt.Chart(alt.Data(values=[{"us": floor_us}]))
            .mark_rule(color=FLOOR_COLOUR, strokeDash=[5, 3], strokeWidth=2)
            .encode(x="us:Q", tooltip=[alt.Tooltip("us:Q", title="memory floor, µs", format=".3g")])
        )
        layers.append(
            alt.Chart(alt.Data(values=[{"us": floor_us, "label": f"memory floor, {floor_us:.2g} µs"}]))
            .mark_text(align="left", dx=2, color=FLOOR_COLOUR)
            .encode(x="us:Q", y=alt.value(-7), text="label:N")
        )
    spoken = "; ".join(spent_words(each, names) for each in found)
    return framed(alt.layer(*layers), height=LANE * len(found), width="container", description=spoken)


def spent_words(found: Breakdown, names: Mapping[Contender, str] = CONTENDER_NAMES) -> str:
    """The breakdown in words: "eager: 94.4 µs = 8.77 kernels + 1.73 launch + 83.1 host + 0.82 return"."""
    parts = " + ".join(f"{us:.3g} {part.value}" for part, us in found.parts.items() if us > 0)
    return f"{names[found.contender]}: {found.total_us:.3g} µs = {parts}"


def speedup_chart(outcome: Outcome, *, author: str = "") -> alt.LayerChart:
    """Speedups over eager with intervals, per clock, on a logarithmic axis, with the noise floor as a band around 1.
    author: of the bundle."""
    looks = run_looks(outcome.spec.baseline, author)
    shown = [each for each in outcome.speedups if each.value > 0 and each.low > 0]
    names = outcome.spec.names
    present = [who for who in Contender if any(each.contender is who for each in shown)]
    order = [names[who] for who in present]
    legend = alt.Legend(orient="top", columns=legend_columns(order, LABELS), labelLimit=LABELS)
    whose: dict[str, Any] = {"title": None, "sort": order, "legend": legend}
    rows = [
        {
            "who": names[each.contender],
            "clock": each.clock.value,
            "speedup": each.value,
            "low": each.low,
            "high": each.high,
        }
        for each in shown
    ]
    clocks = [clock.value for clock in Clock if any(each.clock is clock for each in shown)]
    ends = [1.0, *(each.low for each in shown), *(each.high for each in shown)]
    noise = outcome.noise or 0.0
    domain = [min(*ends, 1 / (1 + noise)) / 1.08, max(*ends, 1 + noise) * 1.08]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("clock:N", title=None, sort=clocks, axis=alt.Axis(labelLimit=110)),
        yOffset=alt.YOffset("who:N", sort=order),
        color=alt.Color("who:N", scale=alt.Scale(domain=order, range=[looks[who].colour for who in present]), **whose),
    )
    x = alt.X("speedup:Q", title="speedup over eager", scale=scale, axis=alt.Axis(format="~g", grid=False))
    intervals = base.mark_rule(strokeWidth=2, opacity=1).encode(
        x=alt.X("low:Q", scale=scale, title="speedup over eager"), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x,
        shape=alt.Shape("who:N", scale=alt.Scale(domain=order, range=[looks[who].shape for who in present]), **whose),
        tooltip=[
            alt.Tooltip("who:N", title="contender"),
            alt.Tooltip("clock:N"),
            alt.Tooltip("speedup:Q", format=".3f"),
            alt.Tooltip("low:Q", title="interval from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    one = alt.Chart(alt.Data(values=[{"x": 1.0}])).mark_rule(color=EDGE, strokeDash=[3, 3])
    layers: list[alt.Chart] = [one.encode(x=alt.X("x:Q", scale=scale)), intervals, points]
    if noise:
        band = alt.Chart(alt.Data(values=[{"low": 1 / (1 + noise), "high": 1 + noise}]))
        layers.insert(0, band.mark_rect(color=EDGE, opacity=0.22).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"))
    spoken = "; ".join(
        f"{names[each.contender]}, {each.clock.value}: {each.value:.2f} ({each.low:.2f} to {each.high:.2f})"
        for each in shown
    )
    height = (14 * max(1, len(order)) + 8) * max(1, len(clocks))
    return framed(alt.layer(*layers), height=height, width="container", description=spoken)


def samples_chart(
    timings: Sequence[Timing],
    names: Mapping[Contender, str] = CONTENDER_NAMES,
    looks: Mapping[Contender, ContenderLook] | None = None,
) -> alt.LayerChart:
    """Raw samples of one clock: a lane of points per contender, with the middle half and the median marked. names,
    looks: of the contenders."""
    looks = looks or run_looks()
    shown = sorted((each for each in timings if each.samples), key=lambda each: list(Contender).index(each.contender))
    order = [names[each.contender] for each in shown]
    rows = [
        # the height within the lane has no meaning; points cycle through it, so that the chart stays the same
        {"who": names[each.contender], "us": sample, "lane": place % LANES}
        for each in shown
        for place, sample in enumerate(each.samples[:: max(1, len(each.samples) // SHOWN)])
    ]
    middles = [{"who": names[each.contender], **quartiles(each)} for each in shown]
    colour = alt.Color(
        "who:N", legend=None, scale=alt.Scale(domain=order, range=[looks[each.contender].colour for each in shown])
    )
    y = alt.Y("who:N", title=None, sort=order, axis=alt.Axis(labelLimit=LABELS))
    axis = {"title": "µs per call", "scale": alt.Scale(zero=False, nice=False, padding=8), "axis": alt.Axis(grid=False)}
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_circle(size=16, opacity=0.75)
        .encode(
            x=alt.X("us:Q", **axis),
            y=y,
            yOffset=alt.YOffset("lane:Q", scale=alt.Scale(domain=[-2, LANES + 1])),
            color=colour,
            tooltip=[alt.Tooltip("who:N", title="contender"), alt.Tooltip("us:Q", format=".2f", title="µs")],
        )
    )
    told = [
        alt.Tooltip("who:N", title="contender"),
        alt.Tooltip("median:Q", format=".2f", title="median, µs"),
        alt.Tooltip("low:Q", format=".2f", title="middle half from"),
        alt.Tooltip("high:Q", format=".2f", title="to"),
    ]
    base = alt.Chart(alt.Data(values=middles)).encode(y=y, tooltip=told)
    halves = base.mark_bar(height=6, opacity=0.35, color=EDGE).encode(x=alt.X("low:Q", **axis), x2="high:Q")
    medians = base.mark_tick(thickness=3, size=LANE * 0.8, color=FLOOR_COLOUR).encode(x=alt.X("median:Q", **axis))
    spoken = "; ".join(
        f"{row['who']}: median {row['median']:.3g} µs, the middle half from {row['low']:.3g} to {row['high']:.3g}"
        for row in middles
    )
    layers = alt.layer(halves, points, medians)
    return framed(layers, height=LANE * max(1, len(order)), width="container", description=spoken)
