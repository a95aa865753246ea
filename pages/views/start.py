"""Start: a finished example, and links to what a visitor can do next."""

import streamlit as st

from pages.ui import drafting, links, live, resources, visitors
from pages.ui.components import match_marks, verdict_card
from pages.ui.example import Example, finished_example
from pages.ui.graphs import graph_view
from pages.ui.text import count, plain, when


def example_view(example: Example) -> None:
    """Show a graph with its match, the pass, and the verdict with hardware and date."""
    graph, code, verdict = st.columns([0.8, 1.3, 1], gap="medium")
    with graph:
        st.markdown("**1. A real subgraph** with its match")
        graph_view(
            resources.graph(example.subgraph.code),
            title="The example's graph",
            **match_marks(example.outcome.match if example.outcome else None),
            inputs=example.subgraph.inputs,
            height=400,
        )
    with code:
        st.markdown("**2. A pass** that replaces the match with one kernel")
        with st.container(height=440, border=False):
            st.code(example.bundle.passes[0].code, language="python", wrap_lines=True)
    with verdict:
        st.markdown("**3. A verdict** with its reasons")
        if example.outcome:
            verdict_card(
                example.outcome,
                recorded=example.recorded,
                next_step="Change the pass and see what the judge says.",
            )
        else:
            st.info("Run the pass to get a verdict.", icon=":material/gavel:")
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
    """Link to the visitor's latest drafts and runs."""
    drafts, runs = (
        drafting.saved_drafts()[:4],
        resources.service().runs(4, visitor=visitors.visitor()),
    )
    if not drafts and not runs:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        if drafts:
            st.subheader("Continue a draft")
        for draft in drafts:
            links.link(
                "workbench",
                f"{plain(draft.task_id)} · {plain(draft.slot)} · {when(draft.saved_at)}",
                icon=":material/edit_note:",
                task=draft.task_id,
                bundle=None if draft.slot == "mine" else draft.slot,
            )
    with right:
        if runs:
            st.subheader("Your latest runs")
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
    "Pick a real subgraph, write a pass for it, and get a verdict that you can trust, with its reasons. Choose from "
    f"{count(len(tasks), 'task')} with {count(sum(task.subgraphs for task in tasks), 'subgraph')}."
)
if not live.await_recorded():
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    st.stop()
example = finished_example(str(resources.service().settings.home))
if example:
    example_view(example)
else:
    st.info("There is no finished example. Browse the tasks and write a pass for one.", icon=":material/lightbulb:")
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
returning()
