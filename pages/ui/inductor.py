"""The section of the Scores page about the subgraphs that TorchInductor slows down."""

import functools
from collections.abc import Mapping, Sequence

import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.components import clock_note, clocks_apart
from pages.ui.filters import INDUCTOR_SLOWER
from pages.ui.plots import described, leave_for, picked_fields
from pages.ui.text import count, plain, recorded, span
from passnet_core.charts.shares import PART, share_chart
from passnet_core.leaderboard.inductor_effects import (
    BaselineRow,
    Effect,
    Ground,
    Grouping,
    Share,
    ground_of,
    grounds,
    guards,
    share_on,
    shares,
    spent,
)
from passnet_core.records import BASELINE_NAMES, Baseline, Clock, Contender, contender_names

SHARES = "shares"
GROUPINGS = {each.value: each for each in Grouping}
CLOCKS = {each.value: each for each in Clock}
FILTERS: Mapping[Grouping, str] = {Grouping.OPERATIONS: "size", Grouping.DTYPE: "dtype", Grouping.FAMILY: "family"}
"""The parameters of Explore that select a group."""


def why_slower(rows: Sequence[BaselineRow]) -> str:
    """Return in one sentence where TorchInductor's calls gain and where they lose, over the rows that its section shows
    first; empty if their kernels were not timed."""
    first = next(iter(grounds(rows)), None)
    found = {each.contender: each for each in spent([row for row in rows if ground_of(row) == first])}
    if first is None or len(found) < 2:
        return ""
    eager, inductor = found[Contender.EAGER], found[Contender.BASELINE]
    if not inductor.kernels_us or not eager.around_us:
        return ""
    faster, longer = eager.kernels_us / inductor.kernels_us, inductor.around_us / eager.around_us
    return (
        f"In {first.capture.value} capture its kernels are {faster:.1f} times as fast as eager's; outside of them a"
        f" call takes {longer:.1f} times as long."
    )


def inductor_section(rows: Sequence[BaselineRow]) -> None:
    """Show which share of subgraphs Inductor slows down, by clock or kind, and where the time goes."""
    if not rows:
        return
    left, right = st.columns([3, 1], vertical_alignment="bottom", gap="small")
    left.header("What TorchInductor slows down", anchor="inductor")
    names = {ground_words(each): each for each in grounds(rows)}
    clock = Clock.END_TO_END
    with right, st.popover("Groups and device", icon=":material/tune:", width="content"):
        chosen = st.segmented_control(
            "Group by", list(GROUPINGS), key="by", bind="query-params", default=Grouping.TIME.value, required=True
        )
        ground = names[st.selectbox("Device and capture", list(names), key="ground", bind="query-params")]
        grouping = GROUPINGS[chosen or Grouping.TIME.value]
        if grouping is not Grouping.CLOCK:
            clock = CLOCKS[st.selectbox("Clock", list(CLOCKS), key="clock", bind="query-params")]
    here = [row for row in rows if ground_of(row) == ground]
    whole = share_on(clock, here)
    if whole is None:
        st.info("This clock has no times on this device. Choose another clock.", icon=":material/timer_off:")
        return
    baseline = BASELINE_NAMES[ground.baseline]
    days = sorted({row.finished_at[:10] for row in here})
    st.markdown(
        f"**{whole.slower:.0%}** of {count(whole.total, 'subgraph')} are slower with {baseline} than eager "
        f"({clock.value}), {whole.counts[Effect.FASTER] / whole.total:.0%} are faster. The median speedup is "
        f"{whole.speedup:.2f}×."
    )
    notes = (
        ground_words(ground),
        span(days),
        recorded(row.recorded for row in here),
        "slower or faster: the whole 95% interval is on that side of 1, and end to end also beyond the noise floor",
    )
    st.caption(" · ".join(plain(each) for each in notes if each))
    alike = [each for each in names.values() if each._replace(clock_version=ground.clock_version) == ground]
    others = [each.clock_version for each in alike if each != ground]
    if apart := clocks_apart(others):
        st.caption(apart)
    summaries = {task.id: task for task in resources.shared().corpus.tasks()}
    found = shares(here, clock, grouping, summaries)
    if found:
        groups = [(each.group, {part.value: number for part, number in each.counts.items()}) for each in found]
        st.vega_lite_chart(
            described(functools.partial(share_chart, groups, grouping.value)),
            width="stretch",
            key=SHARES,
            on_select=functools.partial(open_tasks, grouping),
            selection_mode=PART,
        )
        st.caption(
            "Click a part of a bar to find such tasks in Explore, as far as its filters allow; it counts every speedup "
            "below 1 as slower."
        )
        with st.container(horizontal=True):
            links.link(
                "explore", f"Tasks that {baseline} slows down", icon=":material/travel_explore:", state=INDUCTOR_SLOWER
            )
        with st.expander("As a table", icon=":material/table:"):
            st.dataframe([_row(each) for each in found], hide_index=True, width="stretch", column_config=FIGURES)
    st.markdown("**Where the time of a call goes** (median over these subgraphs)")
    st.dataframe(
        [
            {
                "contender": contender_names(ground.baseline)[each.contender],
                "kernels, µs": each.kernels_us,
                "outside kernels, µs": each.around_us,
                "share of kernels": each.kernels_us / (each.kernels_us + each.around_us),
            }
            for each in spent(here)
        ],
        hide_index=True,
        width="stretch",
        column_config={
            "kernels, µs": st.column_config.NumberColumn(format="%.1f"),
            "outside kernels, µs": st.column_config.NumberColumn(format="%.1f"),
            "share of kernels": st.column_config.NumberColumn(format="percent"),
        },
    )
    st.caption(
        "Outside kernels: Python, dispatch and launches where they do not overlap with kernels; in compiled capture "
        "also the guards."
    )
    if cost := guards(rows, ground):
        st.markdown(
            f"Guards and their dispatch take **{cost.microseconds:.0f} µs** of a call in compiled capture. Direct "
            f"capture has none, and {baseline} takes that much less time in it: the median over "
            f"{count(cost.subgraphs, 'subgraph')} timed in both."
        )


@frame.action
def open_tasks(grouping: Grouping) -> None:
    """Handle a click on a part of a bar: open Explore with such tasks."""
    if picked := picked_fields(st.session_state[SHARES].selection.get(PART), ("name", "part")):
        leave_for("explore", explore_filters(grouping, *picked))


def explore_filters(grouping: Grouping, group: str, part: str) -> dict[str, str]:
    """Return Explore's parameters for the tasks behind a part of a bar, as far as it can filter by group and effect."""
    found = {"state": INDUCTOR_SLOWER} if part == Effect.SLOWER else {}
    return found | ({FILTERS[grouping]: group} if grouping in FILTERS else {})


def ground_words(ground: Ground) -> str:
    """Name a ground; the default baseline and the current clock version are not mentioned."""
    baseline = "" if ground.baseline is Baseline.INDUCTOR else BASELINE_NAMES[ground.baseline]
    pieces = (ground.device, f"{ground.capture.value} capture", baseline, clock_note(ground.clock_version))
    return " · ".join(filter(None, pieces))


FIGURES = {"median speedup": st.column_config.NumberColumn(format="%.2f×")}


def _row(share: Share) -> dict[str, object]:
    return {
        "group": share.group,
        **{part.value: number for part, number in share.counts.items()},
        "median speedup": share.speedup,
    }
