"""Explore: find a task by search and filters, see what it computes and its results; or look through the gallery."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import drafting, frame, gallery, links, live, measured, resources
from pages.ui.components import input_rows
from pages.ui.daily import subgraph_of_the_day
from pages.ui.filters import INDUCTOR_SLOWER, MOST_TO_GAIN, Listing, Search, conditions_of
from pages.ui.graphs import graph_view
from pages.ui.search_bar import chips, search_bar, search_for, search_text
from pages.ui.tables import choose_row
from pages.ui.text import count, plain, shape
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.gains import NEVER_TRIED, Lead, TaskStanding, lead_of
from passnet_core.leaderboard.gallery import Exhibit

ALIKE_SHOWN, OPERATORS_SHOWN, ROWS_SHOWN = 8, 6, 8
TASKS, GALLERY = "Tasks", "Gallery"
CLICKED, ARRIVED = "clicked task", "task that was chosen elsewhere"
MEAN = (
    "End to end. If several subgraphs were measured, this is their geometric mean, over the same subgraphs and on the"
    " same device as the other two figures. The last column says how many, and where."
)
COLUMNS = {
    "task": st.column_config.TextColumn("task", pinned=True, width=210),
    "operators": st.column_config.TextColumn("operators", width=220),
    "eager µs": st.column_config.NumberColumn(
        "eager µs", format="%.1f", width=85, help=f"Eager's time per call in microseconds. {MEAN}"
    ),
    "Inductor ×": st.column_config.NumberColumn(
        "Inductor ×",
        format="%.2f×",
        width=95,
        help=f"Eager's time divided by TorchInductor's: below 1, TorchInductor makes the task slower. {MEAN}",
    ),
    "best ×": st.column_config.NumberColumn(
        "best ×",
        format="%.2f×",
        width=80,
        help=f"Eager's time divided by that of the fastest solver: of all passes and of TorchInductor. {MEAN}",
    ),
    "by": st.column_config.TextColumn(
        "by", width=115, help="Who has the best ×. If there are several names, they lead on different subgraphs."
    ),
    "status": st.column_config.TextColumn(
        "status", width=105, help="On how many subgraphs some passes are accepted, whether faster or not"
    ),
    "subgraphs": st.column_config.NumberColumn("subgraphs", width=90),
    "operations": st.column_config.NumberColumn("operations", width=95, help="Of the largest subgraph"),
    "measured": st.column_config.TextColumn(
        "measured", width="medium", help="How many subgraphs the figures cover, and how they were measured"
    ),
}


def tasks_view(listing: Listing) -> None:
    """Draw the table of the tasks that are searched for, and below it a preview of the one that is chosen."""
    service = resources.shared()
    search = search_bar(listing)
    with st.empty():  # a fixed place: what follows is not drawn from scratch when the message disappears
        loaded = live.await_recorded()
    if loaded and not links.selected("task"):
        subgraph_of_the_day()
    standings = measured.standings() if loaded else {}
    matching = listing.found(search, standings)
    for problem in service.problems if loaded else ():
        st.warning(plain(problem), icon=":material/folder_off:")
    chosen = links.selected("task")
    st.caption(found_words(listing, search, matching, standings))
    if matching:
        choose_row(
            listing.table(matching, standings),
            [listing.tasks[place].id for place in matching],
            key=table_key(chosen),
            choose=choose_task,
            height=38 + 35 * ROWS_SHOWN if len(matching) > ROWS_SHOWN else None,
            column_config=COLUMNS,
            chosen=chosen,
        )
    elif listing.tasks:
        nothing_found(listing, search, standings)
    else:
        st.info(
            "There are no tasks here yet. Bring in a folder of them: `python -m passnet_core corpus import DIR`",
            icon=":material/inventory_2:",
        )
    if chosen:
        with frame.errors_shown():
            preview(chosen, standings.get(chosen, NEVER_TRIED) if loaded else None)


def nothing_found(listing: Listing, search: Search, standings: Mapping[str, TaskStanding]) -> None:
    """Say that no task matches, and offer a likely spelling that some match."""
    likely = listing.corrected(search.text)
    if likely and listing.found(replace(search, text=likely), standings):
        st.info("No task matches.", icon=":material/search_off:")
        st.button(f"Did you mean “{plain(likely)}”?", type="tertiary", on_click=search_for, args=(likely,))
    else:
        st.info("No task matches. Remove a filter or shorten your search.", icon=":material/filter_alt_off:")


def table_key(chosen: str | None) -> str:
    """Return the key of the table. It changes when a task is chosen elsewhere, as by Back: only a table with a new key
    marks another row than the one that was clicked."""
    if st.session_state.get(CLICKED) != chosen:
        st.session_state[CLICKED] = st.session_state[ARRIVED] = chosen
    return f"tasks {st.session_state.get(ARRIVED)}"


def choose_task(task_id: str) -> None:
    st.session_state[CLICKED] = task_id
    links.select("task", task_id)


def found_words(
    listing: Listing, search: Search, matching: Sequence[int], standings: Mapping[str, TaskStanding]
) -> str:
    """Say how many tasks are shown and in which order, and how much slower TorchInductor makes those it slows down."""
    total = count(len(listing.tasks), "task")
    said = total if len(matching) == len(listing.tasks) else f"{len(matching):,} of {total}"
    slowed = listing.slowed(matching, standings) if INDUCTOR_SLOWER in search.states else None
    pieces = (
        f"{said}, {ordered(search.order)}." if matching and standings else f"{said}.",
        f"TorchInductor makes them slower, down to {slowed.worst:.2f}× the speed of eager." if slowed else "",
        "Choose a row to see the task below." if matching and not links.selected("task") else "",
    )
    return " ".join(filter(None, pieces))


def ordered(order: str) -> str:
    if order == MOST_TO_GAIN:
        return "where there is most to gain first"
    return "by name" if order == "Name" else f"{order[:1].lower()}{order[1:]} first"


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
    found = {listing.tasks[place].id for place in listing.found(Search(text, families), measured.standings())}
    return [each for each in exhibits if each.task.id in found]


def preview(task_id: str, standing: TaskStanding | None) -> None:
    """Show what a task computes, and its results so far; None: they are being loaded. Raises UnknownItem if there is no
    such task."""
    task = resources.shared().corpus.task(task_id)
    st.header(plain(task.id))
    facts = [task.family.value, count(len(task.subgraphs), "subgraph")]
    if standing:
        facts += [count(standing.attempts, "attempt"), f"accepted on {standing.right} of {len(task.subgraphs)}"]
    st.caption(plain(" · ".join(facts)))
    leads = map(lead_of, standing.measured if standing else ())
    lead = max(filter(None, leads), key=lambda each: each.speedup, default=None)
    with st.container(horizontal=True):
        links.link("workbench", "Write a pass for this task", icon=":material/construction:", task=task.id)
        if lead:
            label = f"Best run: {lead.speedup:.2f}× eager by {lead.name}"
            links.link("runs", plain(label), icon=":material/trending_up:", run=lead.run_id)
        for name, reference in drafting.references(task).items():
            label = f"Reference: {plain(reference.title)}"
            links.link("workbench", label, icon=":material/menu_book:", task=task.id, bundle=name)
    if not task.subgraphs:
        return
    first = task.subgraphs[0]
    picture, side = st.columns([1.1, 1], gap="medium")
    with picture:
        graph_view(resources.graph(first.code), title=f"First subgraph of {task.id}", inputs=first.inputs, height=420)
    with side:
        if standing:
            best_results(standing)
        with st.expander("Inputs", icon=":material/input:"):
            st.dataframe(input_rows(first), hide_index=True, width="stretch")
        with st.expander("Source", icon=":material/code:"):
            st.code(first.code, language="python", line_numbers=True)
        with st.expander("Tasks like this one", icon=":material/join_inner:"):
            alike(task_id)
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


def best_results(standing: TaskStanding) -> None:
    """Draw the figures of each measured subgraph, of which those of the table are means."""
    if not standing.measured:
        st.caption("No solver was timed on this task yet. Run passes on a machine with a GPU to be the first.")
        return
    means = " The table above has their geometric means." if len(standing.measured) > 1 else ""
    st.caption(f"**Best results** · {plain(conditions_of(standing))}, end to end.{means}")
    leads: list[Lead | None] = list(map(lead_of, standing.measured))
    st.dataframe(
        [
            {
                "subgraph": each.subgraph_id,
                "eager µs": each.eager_us,
                "Inductor ×": each.inductor_speedup,
                "best ×": lead.speedup if lead else None,
                "by": lead.name if lead else None,
            }
            for each, lead in zip(standing.measured, leads)
        ],
        hide_index=True,
        width="stretch",
        placeholder="–",
        column_config={
            "eager µs": st.column_config.NumberColumn("eager µs", format="%.1f"),
            "Inductor ×": st.column_config.NumberColumn("Inductor ×", format="%.2f×"),
            "best ×": st.column_config.NumberColumn("best ×", format="%.2f×"),
        },
    )


def alike(task_id: str) -> None:
    """Draw a button for each of the tasks with the most similar operations, which selects it."""
    similar = resources.listing().alike(task_id, ALIKE_SHOWN)
    for other, likeness in similar:
        label = f"{plain(other.id)} · {likeness:.0%} alike · {_operators(other)}"
        st.button(label, key=f"like {other.id}", type="tertiary", on_click=links.select, args=("task", other.id))
    if not similar:
        st.caption("No other task shares an operation with this one.")


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
