"""How long the calls took, by every clock."""

import streamlit as st

from pages.ui.components import evidence_list, speedup_text
from pages.ui.plots import NAMES, samples_chart
from pages.ui.text import figure
from passnet_core.records import RIGHT, Bundle, Clock, Contender, Outcome, Subgraph, Verdict

OF_TIME = ("noise floor", "the judge's own clock", "timed calls", "replay of a captured graph")
"""Topics of evidence that explain figures."""


def time_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    if not outcome.timings:
        st.info(f"No times: {_why_no_times(outcome)}")
        return
    if outcome.verdict is Verdict.CHEAT:
        st.warning("These times are what the passes' own process claimed. They do not fit the evidence.")
    present = [who for who in Contender if any(each.contender is who for each in outcome.timings)]
    rows = []
    for clock in [each for each in Clock if any(timing.clock is each for timing in outcome.timings)]:
        row = {"clock, median µs per call": clock.value}
        for who in present:
            timing = outcome.timing(who, clock)
            row[NAMES[who]] = figure(timing.median) if timing else "–"
        for who in present:
            if who is not Contender.EAGER:
                row[f"speedup, {NAMES[who]}"] = speedup_text(outcome, clock, who)
        rows.append(row)
    st.dataframe(rows, hide_index=True, width="stretch")
    st.altair_chart(samples_chart(outcome.timings), width="content")
    st.caption("Each mark is one sample. Speedups are medians of block ratios with a bootstrap 95% interval.")
    evidence_list([each for each in outcome.evidence if each.topic in OF_TIME])


def _why_no_times(outcome: Outcome) -> str:
    if outcome.verdict in (Verdict.CHEAT, Verdict.LIBRARY):
        return "only what the passes do themselves, and what their figures show, is ranked by time."
    if outcome.verdict is Verdict.INCONCLUSIVE:
        return "none that can be relied on. Evidence says why."
    if outcome.verdict in RIGHT:
        return (
            "without a GPU only values can be judged. "
            "Under Scores you can look at what was measured on one and comes with this app."
        )
    return "only passes that are right are timed."
