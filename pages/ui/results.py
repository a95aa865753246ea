"""The details of an outcome: match, values, time, code, evidence."""

import functools
from collections.abc import Callable

import streamlit as st

from pages.ui.code_view import code_tab
from pages.ui.components import evidence_list
from pages.ui.match_view import Apply, match_tab
from pages.ui.time_view import time_tab
from pages.ui.value_view import values_tab
from passnet_core.records import ACCEPTED, WRONG, Bundle, Outcome, Subgraph, Verdict

MATCH, VALUES, TIME, CODE, EVIDENCE = "Match", "Values", "Time", "Code", "Evidence"
OPENS: dict[Verdict, str] = {
    **dict.fromkeys(Verdict, EVIDENCE),
    **dict.fromkeys(ACCEPTED | {Verdict.NO_MATCH}, MATCH),
    **dict.fromkeys(WRONG, VALUES),
    Verdict.REJECTED: CODE,
    Verdict.INCONCLUSIVE: EVIDENCE,
}


def result_tabs(
    outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None, *, key: str, apply: Apply | None = None
) -> None:
    """Draw the tabs of an outcome; the one that explains the verdict is open. apply: applies an edit to the passes."""
    names = (MATCH, VALUES, TIME, CODE, EVIDENCE)
    tabs: tuple[Callable[..., None], ...] = (
        functools.partial(match_tab, apply=apply),
        values_tab,
        time_tab,
        code_tab,
        evidence_tab,
    )
    opened = OPENS[outcome.verdict]
    # the key names the tab to open: a new verdict opens its tab, otherwise the tab of the reader stays open
    for tab, draw in zip(st.tabs(names, default=opened, key=f"{key}-{opened}"), tabs):
        with tab:
            draw(outcome, subgraph, bundle)


def evidence_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    evidence_list(outcome.evidence)
    if outcome.log_tail.strip():
        st.markdown("The last lines that the passes printed:")
        st.code(outcome.log_tail, language=None, wrap_lines=True, height=300)
    elif not outcome.evidence:
        st.info("There is no evidence, and the passes printed nothing.")
