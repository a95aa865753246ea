"""Start: a finished example, and links to what a visitor can do next."""

from collections.abc import Sequence

import streamlit as st

from pages.ui import drafting, links, resources
from pages.ui.components import match_marks, verdict_card
from pages.ui.example import ShownExample, finished_example
from pages.ui.graphs import graph_view
from pages.ui.text import count, plain, when
from passnet_core.leaderboard.excerpts import kernels_of
from passnet_core.lessons.progress import next_lesson
from passnet_core.service import Draft, RunSummary

SHOWN = 3
"""How many drafts and runs of a returning visitor are shown."""


def actions(example: ShownExample) -> None:
    """Draw the button that opens the first lesson, one that opens the example in the Workbench, and two links."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        first_lesson()
        if st.button("Run this yourself", icon=":material/play_arrow:"):
            outcome = example.found.outcome
            place = {"task": outcome.task_id, "subgraph": outcome.subgraph_id, "bundle": example.reference}
            st.switch_page(links.script("workbench"), query_params=place)
        links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
        links.link("help", "What is a pass?", icon=":material/help:")


def first_lesson() -> None:
    if st.button("First lesson", type="primary", icon=":material/school:"):
        # not before: reading the lessons takes a moment
        lessons = resources.shared().course.lessons
        st.switch_page(links.script("learn"), query_params={"lesson": lessons[0].id} if lessons else None)


def example_view(example: ShownExample) -> None:
    """Show a graph with its match, what matters of the pass, and the verdict with hardware and date."""
    graph, code, verdict = st.columns([0.8, 1.3, 1], gap="medium")
    with graph:
        st.markdown("**1. A real subgraph** with its match")
        graph_view(
            resources.graph(example.subgraph.code),
            title="The example's graph",
            **match_marks(example.found.outcome.match),
            inputs=example.subgraph.inputs,
            height=400,
        )
    with code:
        st.markdown("**2. A pass** that replaces the match with one kernel")
        pass_view(example)
    with verdict:
        st.markdown("**3. A verdict** with its reasons")
        verdict_card(
            example.found.outcome,
            recorded=example.found.recorded,
            next_step="Change the pass and see what the judge says.",
        )


def pass_view(example: ShownExample) -> None:
    """Show the kernel, and the whole file folded."""
    file = example.found.bundle.passes[0]
    gist = kernels_of(file.code)
    st.code(gist.text, language="python", wrap_lines=True)
    if gist.hidden:
        st.caption(
            f"The kernel of {plain(file.name)}: {count(gist.body, 'line')} compute the result. The other lines, "
            "with the pattern of the match, find the place and launch the kernel."
        )
        with st.expander("Show the whole file", icon=":material/code:"):
            st.code(file.code, language="python", wrap_lines=True)


def returning() -> None:
    """Link to the visitor's latest drafts and runs."""
    next_lesson_link()
    drafts = drafting.saved_drafts()[:SHOWN]
    runs = resources.service().runs(SHOWN, mine=True)
    if drafts and runs:
        left, right = st.columns(2, gap="medium")
        with left:
            draft_links(drafts)
        with right:
            run_links(runs)
    elif drafts:
        draft_links(drafts)
    elif runs:
        run_links(runs)


def next_lesson_link() -> None:
    """Link to the lesson with which somebody goes on who has begun the course."""
    service = resources.service()
    if not service.has_attempts():
        return
    following = next_lesson(resources.shared().course, service.attempts())
    if following is not None:
        label = f"Go on with the lesson {plain(following.title)}"
        links.link("learn", label, icon=":material/school:", lesson=following.id)


def draft_links(drafts: Sequence[Draft]) -> None:
    st.header("Continue a draft")
    drafting.draft_links(drafts)


def run_links(runs: Sequence[RunSummary]) -> None:
    st.header("Your latest runs")
    for each in runs:
        links.link(
            "runs",
            f"{plain(each.run.task_ids[0])}: {each.accepted} of {each.total} accepted · {when(each.run.started_at)}",
            icon=":material/history:",
            run=each.run.id,
        )


st.title("PassNet Playground")
tasks = resources.shared().corpus.tasks()
st.markdown(
    "Pick a real subgraph, write a pass for it, and get a verdict that you can trust, with its reasons. Choose from "
    f"{count(len(tasks), 'task')} with {count(sum(task.subgraphs for task in tasks), 'subgraph')}."
)
latest = st.container()
example = finished_example(str(resources.shared().settings.data))
if example:
    st.header(plain(example.gist))
    actions(example)
    example_view(example)
else:
    st.info(
        "There is no finished example here. Browse the tasks and write a pass for one.", icon=":material/lightbulb:"
    )
    first_lesson()
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    links.link("help", "What is a pass?", icon=":material/help:")
with latest:
    # last, as it waits for whoever writes into the store
    returning()
