"""The details of an outcome: match, values, time, code, programs, and the log with the evidence."""

import functools
from collections.abc import Callable

import streamlit as st

from pages.ui import links
from pages.ui.code_view import code_tab
from pages.ui.components import evidence_list, long_code
from pages.ui.match_view import PLACE, Apply, match_tab
from pages.ui.programs import programs_tab
from pages.ui.time_view import time_tab
from pages.ui.value_view import values_tab
from passnet_core.records import ACCEPTED, WRONG, Bundle, Outcome, Subgraph, Verdict

VERDICT, MATCH, VALUES, TIME, CODE, LOG = "Verdict", "Match", "Values", "Time", "Code", "Log"
PROGRAMS = "Programs"
TAB = "tab"
"""The URL parameter with the open tab."""
OPENS: dict[Verdict, str] = {
    **dict.fromkeys(Verdict, LOG),
    **dict.fromkeys(ACCEPTED | {Verdict.NO_MATCH}, MATCH),
    **dict.fromkeys(WRONG, VALUES),
    Verdict.REJECTED: CODE,
    Verdict.INCONCLUSIVE: LOG,
}


def result_tabs(
    outcome: Outcome | None,
    subgraph: Subgraph,
    bundle: Bundle | None,
    *,
    of: str,
    apply: Apply | None = None,
    verdict: Callable[[], None] | None = None,
) -> None:
    """Draw the tabs of an outcome.

    of: names the result: a new one opens the tab that explains it, otherwise the reader's tab stays open. apply:
    applies an edit to the passes. verdict: draws a first tab with the verdict, which is then the one that opens; while
    there is no outcome, every tab shows it, since it waits for one."""
    tabs: dict[str, Callable[[Outcome, Subgraph, Bundle | None], None]] = {
        MATCH: functools.partial(match_tab, apply=apply),
        VALUES: values_tab,
        TIME: time_tab,
        CODE: code_tab,
        PROGRAMS: programs_tab,
        LOG: log_tab,
    }
    names = [*([VERDICT] if verdict else []), *tabs]
    opens = VERDICT if verdict or outcome is None else OPENS[outcome.verdict]
    before = st.session_state.get(f"{TAB} of")
    if before not in (None, of):
        st.session_state[TAB] = opens
    elif before is None and links.selected(PLACE) and not links.selected(TAB):
        st.session_state[TAB] = MATCH
    st.session_state[f"{TAB} of"] = of
    for name, tab in zip(names, st.tabs(names, default=opens, key=TAB, bind="query-params")):
        if not tab.open:
            continue
        with tab:
            if verdict and (name == VERDICT or outcome is None):
                verdict()
            elif outcome is None:
                st.info("There is no result yet.", icon=":material/hourglass_empty:")
            else:
                tabs[name](outcome, subgraph, bundle)


def log_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    evidence_list(outcome.evidence)
    if outcome.log_tail.strip():
        st.markdown("The last lines that the passes printed:")
        long_code(outcome.log_tail, height=300)
    elif not outcome.evidence:
        st.info("There is no evidence, and the passes printed nothing.")
