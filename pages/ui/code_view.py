"""The Code tab of an outcome: passes, subgraph, rewritten graph and generated code, side by side."""

import threading

import streamlit as st

from pages.ui import built, code_facts, resources
from pages.ui.components import finding_list
from pages.ui.options import BASELINES
from pages.ui.text import code_span, key_of, plain
from passnet_core.advice.memory_floor import memory_floor
from passnet_core.errors import PlaygroundError
from passnet_core.graphs import aligning, panes
from passnet_core.records import (
    BASELINE_NAMES,
    Baseline,
    Bundle,
    Inspection,
    MatchReport,
    Outcome,
    PassKernels,
    Subgraph,
)

POLL_S = 1.0


def code_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    finding_list(outcome.findings, bundle)
    generated = inductor_code(subgraph, outcome)
    kernels = kernel_code(subgraph, bundle, outcome.job_digest) if bundle else None
    graph = aligning.graph_of(subgraph.code)
    known = generated or resources.shared().inspect_within([subgraph], 0.0, threading.Event()).get(subgraph.id)
    if memory_floor(outcome, subgraph, known.accelerator if known else None) is None:
        st.caption(code_facts.ON_A_GPU)
    facts = code_facts.facts(graph, subgraph, outcome, bundle, known)
    shown = [
        *panes.of_passes(graph, bundle, outcome.match, facts),
        *panes.of_subgraph(graph, subgraph.code, outcome.match, facts),
        *(
            [panes.of_inductor(graph, generated.code, generated.baseline, facts)]
            if generated and generated.code
            else []
        ),
    ]
    if bundle and kernels:
        nodes = aligning.kernel_nodes(bundle, graph, outcome.match)
        for number, each in enumerate(kernels.kernels):
            shown += panes.of_kernel(number, each, bundle, nodes.get(each.name, ()), code_facts.compiled(each))
    built.component("code")(key=key_of("code", outcome.job_digest), data=panes.picture(shown, graph, outcome.match))


def bundle_code(subgraph: Subgraph, bundle: Bundle, match: MatchReport | None) -> None:
    """Show a bundle's passes, the subgraph, and the bundle's helpers. Asks nothing of the machine where jobs run."""
    graph = aligning.graph_of(subgraph.code)
    files = list(panes.of_passes(graph, bundle, match, {}))
    passes, helpers = files[: len(bundle.passes)], files[len(bundle.passes) :]
    shown = [*passes, *panes.of_subgraph(graph, subgraph.code, match, {}), *helpers]
    key = key_of("code", f"{subgraph.digest} {bundle.digest}")
    built.component("code")(key=key, data=panes.picture(shown, graph, match))


def inductor_code(subgraph: Subgraph, outcome: Outcome) -> Inspection | None:
    """Return the inspection with the code of the baseline that the visitor chooses, once it was asked for and is known.
    The outcome's own baseline is the default."""
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.toggle(
            "Show TorchInductor's code",
            key=f"inductor-{outcome.job_digest}",
            help="Generates the code for this subgraph on the machine where jobs run. Takes a few seconds.",
        )
        if not asked:
            return None
        name = st.segmented_control(
            "Baseline",
            list(BASELINES),
            key=f"inductor-baseline-{outcome.job_digest}",
            default=BASELINE_NAMES[outcome.spec.baseline],
            required=True,
            label_visibility="collapsed",
        )
    baseline = BASELINES[name or BASELINE_NAMES[outcome.spec.baseline]]
    found = st.session_state.get(_generated_key(subgraph, baseline))
    if found is None:
        _poll_code(subgraph, baseline)
    elif isinstance(found, str):
        st.info(plain(found), icon=":material/code_off:")
    return found if isinstance(found, Inspection) else None


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
    st.markdown(":material/autorenew: Triton compiles the kernels after the jobs that are already waiting…")


@st.fragment(run_every=POLL_S)
def _poll_code(subgraph: Subgraph, baseline: Baseline) -> None:
    """Poll until the code is known, or the reason why there is none."""
    try:
        found = resources.shared().inspection(subgraph, baseline)
    except PlaygroundError as error:
        st.session_state[_generated_key(subgraph, baseline)] = str(error)
        st.rerun()
    if found is not None:
        st.session_state[_generated_key(subgraph, baseline)] = found if found.code else found.code_problem
        st.rerun()
    name = BASELINE_NAMES[baseline]
    st.markdown(f":material/autorenew: {name} generates its code after the jobs that are already waiting…")


def _compiled_key(subgraph: Subgraph, bundle: Bundle) -> str:
    return f"compiled-{subgraph.digest}-{bundle.digest}"


def _generated_key(subgraph: Subgraph, baseline: Baseline) -> str:
    return f"generated-{baseline.value}-{subgraph.digest}"
