"""The Time tab: where the time of a call goes, the speedups, and every sample of every clock."""

import threading

import streamlit as st

from pages.ui import resources
from pages.ui.components import evidence_list, speedup_text
from pages.ui.text import figure, plain
from passnet_core.advice.memory_floor import Floor, floor_words, memory_floor, nearness
from passnet_core.charts.breakdown import Breakdown, Piece, breakdowns, meaning, replays
from passnet_core.charts.contenders import run_looks
from passnet_core.charts.times import breakdown_chart, samples_chart, speedup_chart
from passnet_core.records import (
    DISQUALIFIED,
    NOISE_FLOOR,
    REPLAY,
    RIGHT,
    TIMED_CALLS,
    Accelerator,
    Bundle,
    Clock,
    Contender,
    Outcome,
    Subgraph,
    Verdict,
)

TIME_TOPICS = (NOISE_FLOOR, TIMED_CALLS, REPLAY)
"""Topics of evidence that explain times."""


def time_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    if not outcome.timings:
        st.info(f"No times: {_why_no_times(outcome)}")
        return
    if outcome.verdict is Verdict.CHEAT:
        st.warning("These times were claimed by the passes' own process. They contradict the evidence.")
    floor = memory_floor(outcome, subgraph, _accelerator(outcome, subgraph))
    _where_it_goes(outcome, breakdowns(outcome), floor)
    author = bundle.author if bundle else ""
    _speedups(outcome, author)
    _samples(outcome, author)
    evidence_list([each for each in outcome.evidence if each.topic in TIME_TOPICS])


def _where_it_goes(outcome: Outcome, found: tuple[Breakdown, ...], floor: Floor | None) -> None:
    if not found:
        return
    st.markdown("**Where the time of a call goes** (median call, end to end)")
    st.altair_chart(breakdown_chart(found, floor.us if floor else None, outcome.spec.names), width="stretch")
    st.dataframe(
        [_parts_row(each, floor, outcome.spec.names[each.contender]) for each in found],
        hide_index=True,
        width="stretch",
    )
    if floor:
        st.markdown(f":material/straighten: {plain(floor_words(floor))}")
    parts = [part for part in Piece if any(part in each.parts for each in found)]
    with st.expander("What the parts are", icon=":material/help:"):
        for part in parts:
            st.markdown(f"**{part.value}**: {plain(meaning(part, outcome.spec.capture, replayed=_replayed(outcome)))}")
        st.caption(
            "Each clock times its own calls, so the parts are estimates. A part is zero if the clock that ends it "
            "shows no more time than the clock before. The whole is the time of the end-to-end clock."
        )


def _parts_row(found: Breakdown, floor: Floor | None, name: str) -> dict[str, str]:
    row = {"µs per call": name}
    row |= {part.value: figure(found.parts[part]) for part in Piece if part in found.parts}
    row |= {"end to end": figure(found.total_us)}
    kernels = found.parts.get(Piece.KERNELS)
    return row | ({"kernels over memory floor": nearness(kernels, floor)} if floor and kernels else {})


def _replayed(outcome: Outcome) -> bool:
    return bool(replays(outcome))


def _speedups(outcome: Outcome, author: str) -> None:
    present = [who for who in Contender if any(each.contender is who for each in outcome.timings)]
    if outcome.speedups:
        st.markdown("**Speedups over eager**, with their 95% intervals")
        st.altair_chart(speedup_chart(outcome, author=author), width="stretch")
        if outcome.noise is not None:
            st.caption(
                f"The band around 1 is the noise floor: eager may differ from itself by up to {outcome.noise:.1%}, end "
                "to end. A speedup is the median of the blocks' ratios, with a bootstrapped interval."
            )
    rows = []
    for clock in [each for each in Clock if any(timing.clock is each for timing in outcome.timings)]:
        row = {"clock, median µs per call": clock.value}
        for who in present:
            timing = outcome.timing(who, clock)
            row[outcome.spec.names[who]] = figure(timing.median) if timing else "–"
        for who in present:
            if who is not Contender.EAGER:
                row[f"speedup, {outcome.spec.names[who]}"] = speedup_text(outcome, clock, who)
        rows.append(row)
    st.dataframe(rows, hide_index=True, width="stretch")


def _samples(outcome: Outcome, author: str) -> None:
    looks = run_looks(outcome.spec.baseline, author)
    st.markdown("**Every sample**")
    for clock in Clock:
        timings = [each for each in outcome.timings if each.clock is clock and each.samples]
        if timings:
            st.markdown(f"{clock.value[:1].upper()}{clock.value[1:]}")
            st.altair_chart(samples_chart(timings, outcome.spec.names, looks), width="stretch")
    st.caption(
        "Each dot is one call (if there are many, every n-th); its vertical position is jitter. The line is the "
        "median, the bar the middle half."
    )


def _accelerator(outcome: Outcome, subgraph: Subgraph) -> Accelerator | None:
    """Return the accelerator here if the outcome is from the same device and the subgraph was inspected on it."""
    environment = resources.shared().device().environment
    if outcome.environment is None or environment is None or environment.device != outcome.environment.device:
        return None
    known = resources.shared().inspect_within([subgraph], 0.0, threading.Event()).get(subgraph.id)
    return known.accelerator if known else None


def _why_no_times(outcome: Outcome) -> str:
    if outcome.verdict in DISQUALIFIED:
        return "passes with this verdict are not ranked by time."
    if outcome.verdict is Verdict.INCONCLUSIVE:
        return "none could be measured reliably. Log says why."
    if outcome.verdict in RIGHT:
        return (
            "without a GPU only values can be judged. "
            "Scores shows results that were measured on a GPU and come with this app."
        )
    return "only passes with right values are timed."
