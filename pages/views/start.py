"""Start: a finished example, and where to go from here."""

import streamlit as st

from pages.ui import links, live, resources
from pages.ui.components import match_marks, verdict_card
from pages.ui.example import Example, finished_example
from pages.ui.graphs import graph_view
from pages.ui.text import count, plain, when


def example_view(example: Example) -> None:
    """A graph with its match, a pass, and the verdict with hardware and date."""
    graph, code, verdict = st.columns([0.8, 1.3, 1], gap="medium")
    with graph:
        st.markdown("**1. A real subgraph**, its match marked")
        graph_view(
            resources.graph(example.subgraph.code),
            title="The example's graph",
            **match_marks(example.outcome.match if example.outcome else None),
            inputs=example.subgraph.inputs,
            height=400,
        )
    with code:
        st.markdown("**2. A pass** that replaces the match by one kernel")
        with st.container(height=440, border=False):
            st.code(example.bundle.passes[0].code, language="python", wrap_lines=True)
    with verdict:
        st.markdown("**3. A verdict** with its reasons")
        if example.outcome:
            verdict_card(
                example.outcome,
                recorded=example.recorded,
                next_step="change the pass and see what the judge says.",
            )
        else:
            st.info("Run it to see what the judge says of it here.", icon=":material/gavel:")
        links.link(
            "workbench",
            "Run this yourself",
            icon=":material/play_arrow:",
            task=example.task_id,
            subgraph=example.subgraph.id,
            bundle=example.reference,
        )
        links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
        links.link("help", "What is a pass?", icon=":material/help:")


def returning() -> None:
    """What the visitor was doing last."""
    drafts, runs = (
        resources.service().drafts()[:4],
        [each for each in resources.service().runs(40) if not each.run.recorded][:4],
    )
    if not drafts and not runs:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Go on with a draft")
        for draft in drafts:
            links.link(
                "workbench",
                f"{plain(draft.task_id)} · {plain(draft.slot)} · {when(draft.saved_at)}",
                icon=":material/edit_note:",
                task=draft.task_id,
                bundle=None if draft.slot == "mine" else draft.slot,
            )
    with right:
        st.subheader("Latest runs")
        for each in runs:
            links.link(
                "runs",
                f"{plain(each.run.task_ids[0])}: {each.accepted} of {each.total} accepted · "
                f"{when(each.run.started_at)}",
                icon=":material/history:",
                run=each.run.id,
            )


st.title("PassNet Playground")
tasks = resources.service().corpus.tasks()
st.markdown(
    "Pick a real subgraph, write a pass for it, and get a verdict that can be trusted, with its reasons. "
    f"Here are {count(len(tasks), 'task')} with {count(sum(task.subgraphs for task in tasks), 'subgraph')}."
)
if not live.await_recorded():
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    st.stop()
found = finished_example(str(resources.service().settings.home))
if found:
    example_view(found)
else:
    st.info("There is no example here. Browse the tasks and write a pass for one.", icon=":material/lightbulb:")
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
returning()
