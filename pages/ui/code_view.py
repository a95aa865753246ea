"""The Code tab of an outcome: passes, subgraph, rewritten graph and generated code, side by side."""

import threading

import streamlit as st

from pages.ui import built, code_facts, resources
from pages.ui.components import finding_list
from pages.ui.text import code_span, key_of, plain
from passnet_core.advice.memory_floor import memory_floor
from passnet_core.errors import PlaygroundError
from passnet_core.graphs import aligning, panes
from passnet_core.records import Bundle, InductorCode, Inspection, Outcome, PassKernels, Subgraph

POLL_S = 1.0


def code_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    finding_list(outcome.findings, bundle)
    code = inductor_code(subgraph, outcome.job_digest)
    kernels = kernel_code(subgraph, bundle, outcome.job_digest) if bundle else None
    graph = aligning.graph_of(subgraph.code)
    known = _inspection(subgraph)
    if memory_floor(outcome, subgraph, known.accelerator if known else None) is None:
        st.caption(code_facts.ON_A_GPU)
    facts = code_facts.facts(graph, subgraph, outcome, bundle, known)
    shown = [
        *panes.of_passes(graph, bundle, outcome.match, facts),
        *panes.of_subgraph(graph, subgraph.code, outcome.match, facts),
        *([panes.of_inductor(graph, code, facts)] if code else []),
    ]
    if bundle and kernels:
        nodes = aligning.kernel_nodes(bundle, graph, outcome.match)
        for number, each in enumerate(kernels.kernels):
            shown += panes.of_kernel(number, each, bundle, nodes.get(each.name, ()), code_facts.compiled(each))
    built.component("code")(key=key_of("code", outcome.job_digest), data=panes.picture(shown, graph, outcome.match))


def inductor_code(subgraph: Subgraph, key: str) -> InductorCode | None:
    """Return the code that TorchInductor generates, once the visitor has asked for it and it is known."""
    asked = st.toggle(
        "Show TorchInductor's code",
        key=f"inductor-{key}",
        help="Generates the code for this subgraph on the machine where jobs run. Takes a few seconds.",
    )
    found = st.session_state.get(_generated_key(subgraph))
    if not asked:
        return None
    if found is None:
        _poll_code(subgraph)
    elif isinstance(found, str):
        st.info(plain(found), icon=":material/code_off:")
    return found.code if isinstance(found, Inspection) else None


def kernel_code(subgraph: Subgraph, bundle: Bundle, key: str) -> PassKernels | None:
    """Return what Triton compiles the kernels to, once the visitor has asked for it and it is known."""
    asked = st.toggle(
        "Show Triton IR and PTX of the passes",
        key=f"kernels-{key}",
        help="Compiles the kernels in a sandbox on the machine where jobs run; if it has no GPU, for a GPU that is"
        " named. Takes a few seconds.",
    )
    found = st.session_state.get(_compiled_key(subgraph, bundle))
    if not asked:
        return None
    if found is None:
        _poll_kernels(subgraph, bundle)
        return None
    if isinstance(found, str):
        st.info(plain(found), icon=":material/code_off:")
        return None
    for each in found.kernels:
        if each.problem:
            st.info(f"There is no code of {code_span(each.name)}:", icon=":material/code_off:")
            st.code(each.problem, language=None, wrap_lines=True)
    return found if isinstance(found, PassKernels) else None


@st.fragment(run_every=POLL_S)
def _poll_kernels(subgraph: Subgraph, bundle: Bundle) -> None:
    """Poll until the kernels are known, or the reason why there are none."""
    try:
        found = resources.service().kernels(subgraph, bundle)
    except PlaygroundError as error:
        st.session_state[_compiled_key(subgraph, bundle)] = str(error)
        st.rerun()
    if found is not None:
        st.session_state[_compiled_key(subgraph, bundle)] = found.problem or found
        st.rerun()
    st.markdown(":material/autorenew: Triton compiles the kernels after the jobs that already wait…")


@st.fragment(run_every=POLL_S)
def _poll_code(subgraph: Subgraph) -> None:
    """Poll until the code is known, or the reason why there is none."""
    try:
        found = resources.service().inspection(subgraph)
    except PlaygroundError as error:
        st.session_state[_generated_key(subgraph)] = str(error)
        st.rerun()
    if found is not None:
        st.session_state[_generated_key(subgraph)] = found if found.code else found.code_problem
        st.rerun()
    st.markdown(":material/autorenew: TorchInductor generates its code after the jobs that already wait…")


def _inspection(subgraph: Subgraph) -> Inspection | None:
    """Return what is known so far: the subgraph's values, and TorchInductor's code if it was asked for."""
    found = st.session_state.get(_generated_key(subgraph))
    if isinstance(found, Inspection):
        return found
    return resources.service().inspect_within([subgraph], 0.0, threading.Event()).get(subgraph.id)


def _compiled_key(subgraph: Subgraph, bundle: Bundle) -> str:
    return f"compiled-{subgraph.digest}-{bundle.digest}"


def _generated_key(subgraph: Subgraph) -> str:
    return f"generated-{subgraph.digest}"
