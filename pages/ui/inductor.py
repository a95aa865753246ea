"""The section of the Scores page about the subgraphs that TorchInductor slows down."""

import streamlit as st

from pages.ui import measured, resources
from pages.ui.components import clock_note, clocks_apart
from pages.ui.text import count, plain, recorded, span
from passnet_core.charts.shares import share_chart
from passnet_core.leaderboard.inductor_effects import (
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
from passnet_core.records import BASELINE_NAMES, Baseline, Clock, contender_names

GROUPINGS = {each.value: each for each in Grouping}
CLOCKS = {each.value: each for each in Clock}


def inductor_section() -> None:
    """Show which share of subgraphs Inductor slows down, by clock or kind, and where the time goes."""
    service = resources.service()
    rows = measured.baseline_rows()
    if not rows:
        return
    st.header("What TorchInductor slows down", anchor="inductor")
    chosen = st.segmented_control(
        "Group by", list(GROUPINGS), key="by", bind="query-params", default=Grouping.TIME.value, required=True
    )
    left, right = st.columns(2, vertical_alignment="bottom", gap="medium")
    names = {ground_words(each): each for each in grounds(rows)}
    ground = names[left.selectbox("Device and capture", list(names), key="ground", bind="query-params")]
    grouping = GROUPINGS[chosen or Grouping.TIME.value]
    clock = Clock.END_TO_END
    if grouping is not Grouping.CLOCK:
        named = right.selectbox("Clock", list(CLOCKS), key="clock", bind="query-params")
        clock = CLOCKS[named]
    here = [row for row in rows if ground_of(row) == ground]
    whole = share_on(clock, here)
    if whole is None:
        st.info("This clock has no times on this device. Choose another clock.", icon=":material/timer_off:")
        return
    baseline = BASELINE_NAMES[ground.baseline]
    days = sorted({row.finished_at[:10] for row in here})
    st.markdown(
        f"**{whole.slower:.0%}** of {count(whole.total, 'subgraph')} are slower with {baseline} than eager "
        f"({clock.value}), {whole.counts[Effect.FASTER] / whole.total:.0%} are faster; median speedup "
        f"{whole.speedup:.2f}×."
    )
    notes = (
        span(days),
        recorded(row.recorded for row in here),
        "slower or faster: the whole 95% interval is on that side of 1 and, end to end, beyond the noise floor",
    )
    st.caption(" · ".join(plain(each) for each in notes if each))
    alike = [each for each in names.values() if each._replace(clock_version=ground.clock_version) == ground]
    others = [each.clock_version for each in alike if each != ground]
    if apart := clocks_apart(others):
        st.caption(apart)
    summaries = {task.id: task for task in service.corpus.tasks()}
    found = shares(here, clock, grouping, summaries)
    if found:
        groups = [(each.group, {part.value: number for part, number in each.counts.items()}) for each in found]
        st.altair_chart(share_chart(groups, grouping.value), width="stretch")
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
        "Outside kernels: Python, dispatch and launches, as far as they do not overlap with kernels; with compiled "
        "capture, the guards as well."
    )
    if cost := guards(rows, ground):
        st.markdown(
            f"Guards and their dispatch take **{cost.microseconds:.0f} µs** of a call in compiled capture. "
            f"This is how much longer {baseline} takes than in direct capture, which has no guards (median "
            f"over {count(cost.subgraphs, 'subgraph')} timed in both captures)."
        )


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
