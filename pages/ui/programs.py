"""The Programs tab: step through the programs of the kernels that passes launch, and through their memory accesses."""

import textwrap

import streamlit as st

from pages.ui import resources
from pages.ui.text import code_span, count, key_of, plain, shape
from passnet_core.charts import steps, tiles
from passnet_core.errors import PlaygroundError
from passnet_core.records import (
    UNLOADED,
    UNREPLACED,
    Bundle,
    MemoryAccess,
    Outcome,
    PassTrace,
    Subgraph,
    TracedLaunch,
    TracedProgram,
    TracedTensor,
)

POLL_S = 1.0
AROUND = 2
"""How many lines of the kernel are shown before and after the one that accesses memory."""
HERE = "▶"
"""The sign before that line."""
LAUNCH, PROGRAM, STEP = "Launch", "Program", "Step"


def programs_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    if bundle is None:
        st.info("There are no passes here, so no kernel of theirs is launched. Judge passes to step through them.")
        return
    if outcome.verdict in UNLOADED | UNREPLACED:
        _nothing(outcome.reason)
        return
    failed = _failed_key(subgraph, bundle)
    if problem := st.session_state.get(failed):
        st.info(plain(problem), icon=":material/error:")
        st.button("Ask again", on_click=st.session_state.pop, args=(failed,))
        return
    found = _asked(subgraph, bundle)
    if found is None:
        _poll(subgraph, bundle)
    elif found.problem:
        _nothing(found.problem)
    else:
        _stepping(found, bundle)


def _nothing(problem: str) -> None:
    """Say why no kernel is launched, and where one would be."""
    st.info(
        f"There is no program to step through. {plain(problem)} A kernel is launched where a pass matches and its"
        " replacement calls one, as in `kernel[grid](…)`.",
        icon=":material/grid_off:",
    )


def _asked(subgraph: Subgraph, bundle: Bundle) -> PassTrace | None:
    """The trace, once it is known. A failure is kept until the visitor asks again."""
    try:
        return resources.service().programs(subgraph, bundle)
    except PlaygroundError as error:
        st.session_state[_failed_key(subgraph, bundle)] = str(error)
        st.rerun()


@st.fragment(run_every=POLL_S)
def _poll(subgraph: Subgraph, bundle: Bundle) -> None:
    """Poll until the trace is known."""
    if _asked(subgraph, bundle) is not None:
        st.rerun()
    st.markdown(":material/autorenew: Triton's interpreter runs the kernels after the jobs that are already waiting…")


@st.fragment
def _stepping(trace: PassTrace, bundle: Bundle) -> None:
    """Choose a launch, a program and a step, and show them. Only this part of the page is drawn anew."""
    key = key_of("programs", f"{trace.subgraph_digest} {trace.bundle_digest}")
    number = _launch(trace, key)
    launch, key = trace.launches[number], f"{key}-{number}"
    program = _program(launch, key)
    if not program.accesses:
        st.info("This program accesses no memory.")
        return
    step = _step(program, key)
    access = program.accesses[step]
    tensor = launch.tensor(access.tensor)
    said = steps.words(launch, program, step)
    st.markdown(plain(said))
    _source(access, bundle)
    if tensor:
        _tensor(launch, program, step, tensor, legend=True)
    st.markdown(f"Block of {plain(shape(access.shape))} lanes")
    st.altair_chart(tiles.lanes_chart(access, said), width="stretch")
    accessed = {each.tensor for each in program.accesses}
    for each in launch.tensors:
        if each is not tensor and each.name in accessed:
            _tensor(launch, program, step, each, legend=False)
    st.dataframe(
        steps.value_rows(access, tensor),
        hide_index=True,
        width="stretch",
        height=220,
        column_config={"masked": st.column_config.CheckboxColumn("left out")},
    )
    if len(access.elements) > steps.MOST_VALUES:
        st.caption(f"The first {steps.MOST_VALUES} of {count(access.lanes, 'lane')}.")
    st.caption(plain(" ".join(steps.remarks(trace, launch, program))))


def _tensor(launch: TracedLaunch, program: TracedProgram, step: int, tensor: TracedTensor, *, legend: bool) -> None:
    st.markdown(f"{code_span(tensor.name)} {plain(steps.described(tensor))}")
    st.altair_chart(tiles.tensor_chart(launch, program, step, tensor, legend=legend), width="stretch")


def _launch(trace: PassTrace, key: str) -> int:
    """The index of the launch that the visitor chooses."""
    titles = [f"{number + 1}: {each.kernel}" for number, each in enumerate(trace.launches)]
    if len(titles) == 1:
        return 0
    return titles.index(st.selectbox(LAUNCH, titles, key=f"{key}-launch"))


def _program(launch: TracedLaunch, key: str) -> TracedProgram:
    """The program that the visitor chooses among those recorded."""
    programs = {steps.place(launch, each): each for each in launch.programs}
    if len(programs) == 1:
        return launch.programs[0]
    label = f"{PROGRAM} of {launch.size:,}"
    return programs[st.select_slider(label, list(programs), key=f"{key}-program")]


def _step(program: TracedProgram, key: str) -> int:
    """The index of the access that the visitor chooses."""
    titles = [f"{number + 1}: {each.kind} {each.tensor or 'elsewhere'}" for number, each in enumerate(program.accesses)]
    if len(titles) == 1:
        return 0
    return titles.index(st.select_slider(STEP, titles, key=f"{key}-step"))


def _source(access: MemoryAccess, bundle: Bundle) -> None:
    """Show the lines around the one that accesses memory, with an arrow before it."""
    code = next((each.code for each in bundle.files if each.name == access.file), "").splitlines()
    if not 0 < access.line <= len(code):
        return
    first = max(1, access.line - AROUND)
    shown = range(first, min(len(code), access.line + AROUND) + 1)
    lines = textwrap.dedent("\n".join(code[number - 1] for number in shown)).splitlines()
    marked = [f"{HERE if number == access.line else ' '} {number:>3}  {line}" for number, line in zip(shown, lines)]
    st.code("\n".join(marked), language="python")


def _failed_key(subgraph: Subgraph, bundle: Bundle) -> str:
    return f"untraced-{subgraph.digest}-{bundle.digest}"
