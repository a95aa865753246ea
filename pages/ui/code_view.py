"""The code of an outcome: the passes, the subgraph and what it became, and what TorchInductor generates."""

from typing import Literal

import streamlit as st

from pages.ui import resources
from pages.ui.components import finding_list
from pages.ui.text import code_span, count, plain
from passnet_core.errors import PlaygroundError
from passnet_core.graphs import drawing
from passnet_core.records import Bundle, Outcome, Subgraph

LOOK_S = 1.0


def code_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    finding_list(outcome.findings, bundle)
    mine, rewritten = st.columns(2)
    with mine:
        for number, file in enumerate(bundle.files if bundle else (), 1):
            sign = drawing.mark(number) if bundle and number <= len(bundle.passes) else "helper"
            st.markdown(f"{sign} {code_span(file.name)}")
            st.code(file.code, language="python", line_numbers=True, height=_code_height(file.code))
    with rewritten:
        if outcome.match and outcome.match.rewritten:
            st.markdown("The subgraph, rewritten")
            st.code(outcome.match.rewritten, language="python", line_numbers=True)
        st.markdown("The subgraph, as recorded")
        st.code(subgraph.code, language="python", line_numbers=True, height=_code_height(subgraph.code))
    inductors_code(subgraph, outcome.job_digest)


def inductors_code(subgraph: Subgraph, key: str) -> None:
    """What TorchInductor generates here, once it is asked for."""
    asked = st.toggle("What TorchInductor generates", key=f"inductor-{key}", help="Where jobs run; takes some seconds.")
    found = st.session_state.get(_generated_key(subgraph))
    if not asked:
        return
    if found is None:
        _look_for_code(subgraph)
    elif isinstance(found, str):
        st.info(plain(found), icon=":material/code_off:")
    else:
        library = f" and {count(found.library_calls, 'kernel')} of torch's" if found.library_calls else ""
        st.caption(f"One call launches {count(found.launches, 'kernel')} of its own{library}.")
        st.code(found.text, language="python", line_numbers=True, height=480)


@st.fragment(run_every=LOOK_S)
def _look_for_code(subgraph: Subgraph) -> None:
    """Asks until the code is there, or why there is none."""
    try:
        found = resources.service().inspection(subgraph)
    except PlaygroundError as error:
        st.session_state[_generated_key(subgraph)] = str(error)
        st.rerun()
    if found is not None:
        st.session_state[_generated_key(subgraph)] = found.code or found.code_problem
        st.rerun()
    st.markdown(":material/autorenew: TorchInductor is writing its code, behind the jobs that wait…")


def _generated_key(subgraph: Subgraph) -> str:
    return f"generated-{subgraph.digest}"


def _code_height(code: str) -> int | Literal["content"]:
    return 480 if code.count("\n") > 26 else "content"
