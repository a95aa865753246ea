"""Explore: find a task by search and filters, see what it computes and its results; or look through the gallery."""

import functools
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import drafting, frame, gallery, links, live, measured, resources
from pages.ui.components import input_rows
from pages.ui.filters import (
    INDUCTOR_SLOWER,
    NEVER_TRIED,
    SIZES,
    TRIED,
    UNSOLVED,
    Listing,
    Search,
    TaskStanding,
    standing_by_task,
)
from pages.ui.graphs import graph_view
from pages.ui.tables import choose_row
from pages.ui.text import count, plain, shape
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.gallery import Exhibit

SEARCH_HELP = """Words from the name, models, split or operators of a task. A task must have all of them.

- `128x768`: the shape of an input has these sizes next to each other
- `layer_norm -> linear`: a `linear` directly after a `layer_norm`
- `conv* -> … -> relu`: an operator whose name begins with `conv`, and later a `relu`"""
ALIKE_SHOWN, OPERATORS_SHOWN = 8, 6
TASKS, GALLERY = "Tasks", "Gallery"


def search_text() -> str:
    """Draw the search field, which tasks and gallery share, and return its text."""
    return st.text_input(
        "Search",
        key="q",
        bind="query-params",
        placeholder="a name, a model, 128x768, layer_norm → linear",
        help=SEARCH_HELP,
        icon=":material/search:",
    )


def search_fields(listing: Listing) -> Search:
    """Draw the search fields, and return what the visitor has set. Every field is bound to the URL."""
    first, second = st.columns([1, 1], vertical_alignment="bottom")
    with first:
        text = search_text()
    operators = second.multiselect(
        "Operators (all of them)",
        listing.operators,
        key="op",
        bind="query-params",
    )
    with st.container(horizontal=True, gap="medium"):
        dtypes = chips("dtype", "dtype", listing.dtypes)
        families = chips("Family", "family", listing.families)
        splits = chips("Split", "split", listing.splits)
        sizes = chips("Operations", "size", list(SIZES))
        states = chips("State", "state", [UNSOLVED, INDUCTOR_SLOWER, TRIED])
    with st.expander("Source models", expanded=bool(links.selected("model"))):
        sources = st.multiselect(
            "Source models (any of them)",
            listing.sources,
            key="model",
            bind="query-params",
        )
    return Search(text, families, dtypes, operators, sources, splits, sizes, states)


def chips(label: str, key: str, options: list[str]) -> list[str]:
    """Draw chips of which any number can be selected. Draw nothing if there are fewer than two options."""
    if len(options) < 2:
        return []
    return list(st.pills(label, options, selection_mode="multi", key=key, bind="query-params"))


def tasks_view(listing: Listing) -> None:
    """Draw the table of the tasks that are searched for, and a preview of the one that is chosen."""
    service = resources.service()
    search = search_fields(listing)
    with st.empty():  # a fixed place: what follows is not drawn from scratch when the message disappears
        loaded = live.await_recorded()
    standings = standing_by_task(service.standings()) if loaded else {}
    matching = listing.found(search, standings)
    for problem in service.problems if loaded else ():
        st.warning(plain(problem), icon=":material/folder_off:")
    chosen = links.selected("task")
    table, side = st.columns([1.25, 1], gap="medium")
    with table:
        st.caption(f"{len(matching):,} of {count(len(listing.tasks), 'task')}. Choose a row to see the task.")
        if matching:
            choose_row(
                listing.table(matching, standings),
                [listing.tasks[place].id for place in matching],
                key="tasks",
                choose=functools.partial(links.select, "task"),
                height=620 if len(matching) > 16 else None,
                column_config={
                    "best": st.column_config.NumberColumn(
                        "best", format="%.2f×", help="Best speedup over eager, end to end"
                    ),
                    "task": st.column_config.TextColumn("task", pinned=True, width=210),
                    "operators": st.column_config.TextColumn("operators", width="medium"),
                },
            )
        else:
            st.info("No task matches. Remove a filter, or search for fewer words.", icon=":material/filter_alt_off:")
    with side:
        if chosen:
            preview(chosen, standings.get(chosen, NEVER_TRIED))
        elif matching:
            st.info("No task is selected. Choose a row on the left to see its graph here.", icon=":material/touch_app:")


def gallery_view(listing: Listing) -> None:
    """Draw the gallery, or the bundle in it that the URL names."""
    if not live.await_recorded():
        return
    with frame.errors_shown():
        exhibits = measured.gallery()
        asked = links.selected(gallery.ENTRY)
        exhibit = next((each for each in exhibits if each.task.id == asked), None)
        if exhibit is None:
            if asked:
                st.error(
                    f"{plain(repr(asked))} is not in the gallery. Choose a bundle from those below.",
                    icon=":material/error:",
                    title="Not found",
                )
            gallery.overview(exhibits, searched(exhibits, listing, *st.columns([1.25, 1], gap="medium")))
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            with st.popover("Search", icon=":material/search:"):
                # drawn here too, so that the URL keeps what was searched for
                found = searched(exhibits, listing, st.container(), st.container())
            gallery.turning(exhibit, found if exhibit in found else exhibits)
        gallery.entry(exhibit)


def searched(
    exhibits: Sequence[Exhibit], listing: Listing, first: DeltaGenerator, second: DeltaGenerator
) -> list[Exhibit]:
    """Draw search and families in these two places, and return the exhibits whose tasks match."""
    with first:
        text = search_text()
    with second:
        families = chips("Family", "family", listing.families)
    found = {listing.tasks[place].id for place in listing.found(Search(text, families), {})}
    return [each for each in exhibits if each.task.id in found]


def preview(task_id: str, standing: TaskStanding) -> None:
    """Show what a task computes, and its results so far."""
    task = resources.service().corpus.task(task_id)
    st.subheader(plain(task.id))
    st.caption(
        f"{plain(task.family.value)} · {count(len(task.subgraphs), 'subgraph')} · "
        f"{count(standing.attempts, 'attempt')} · {standing.right} of {len(task.subgraphs)} subgraphs accepted"
    )
    with st.container(horizontal=True):
        links.link("workbench", "Write a pass for this task", icon=":material/construction:", task=task.id)
        if standing.best_run_id:
            links.link(
                "runs",
                f"Best run: {standing.best_speedup:.2f}× eager",
                icon=":material/trending_up:",
                run=standing.best_run_id,
            )
    for name, reference in drafting.references(task).items():
        links.link(
            "workbench", f"Reference: {plain(reference.title)}", icon=":material/menu_book:", task=task.id, bundle=name
        )
    if not task.subgraphs:
        return
    first = task.subgraphs[0]
    graph_view(resources.graph(first.code), title=f"First subgraph of {task.id}", inputs=first.inputs, height=380)
    with st.expander("Inputs", icon=":material/input:"):
        st.dataframe(input_rows(first), hide_index=True, width="stretch")
    with st.expander("Source", icon=":material/code:"):
        st.code(first.code, language="python", line_numbers=True)
    with st.expander("Tasks like this one", icon=":material/join_inner:"):
        similar = resources.listing().alike(task_id, ALIKE_SHOWN)
        for other, likeness in similar:
            label = f"{plain(other.id)} · {likeness:.0%} alike · {_operators(other)}"
            st.button(label, key=f"like {other.id}", type="tertiary", on_click=links.select, args=("task", other.id))
        if not similar:
            st.caption("No other task shares an operation with this one.")
    with st.expander(f"All {count(len(task.subgraphs), 'subgraph')}", icon=":material/dataset:"):
        st.dataframe(
            [
                {
                    "subgraph": each.id,
                    "dtype": each.dtype,
                    "largest input": shape(max((s.shape for s in each.inputs), key=len, default=())),
                    "model": each.source_model,
                }
                for each in task.subgraphs
            ],
            hide_index=True,
            width="stretch",
        )


def _operators(task: TaskSummary) -> str:
    """Return the operators of a task, as many as fit on one line."""
    first = " → ".join(map(plain, task.operators[:OPERATORS_SHOWN]))
    return f"{first} → …" if len(task.operators) > OPERATORS_SHOWN else first


st.title("Explore")
view = st.segmented_control(
    "Show",
    [TASKS, GALLERY],
    key="view",
    bind="query-params",
    default=TASKS,
    required=True,
    label_visibility="collapsed",
)
if view == GALLERY:
    gallery_view(resources.listing())
else:
    tasks_view(resources.listing())
