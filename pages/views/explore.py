"""Explore: every task, found by search and chips; choosing one shows what it computes and how it stands."""

import functools
from collections.abc import Sequence

import streamlit as st

from pages.ui import drafting, links, resources
from pages.ui.components import graph_view, input_rows
from pages.ui.filters import INDUCTOR_SLOWER, SIZES, TRIED, UNSOLVED, Search, TaskStanding, found, standing_by_task
from pages.ui.tables import choose_row
from pages.ui.text import count, plain, shape
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.records import Family


def search_fields(tasks: Sequence[TaskSummary]) -> Search:
    """The search as the visitor has set it; all of it is in the URL."""
    first, second = st.columns([1, 1], vertical_alignment="bottom")
    text = first.text_input(
        "Search", key="q", bind="query-params", placeholder="a name, a model, an operator", icon=":material/search:"
    )
    operators = second.multiselect(
        "Operators, all of them",
        sorted({name for task in tasks for name in task.vocabulary}),
        key="op",
        bind="query-params",
    )
    with st.container(horizontal=True, gap="medium"):
        dtypes = chips("dtype", "dtype", {name for task in tasks for name in task.dtypes})
        families = chips(
            "Family", "family", {family.value for family in Family if any(t.family is family for t in tasks)}
        )
        splits = chips("Split", "split", {task.split for task in tasks if task.split})
        sizes = chips("Operations", "size", list(SIZES))
        states = chips("State", "state", [UNSOLVED, INDUCTOR_SLOWER, TRIED])
    with st.expander("Source models", expanded=bool(links.selected("model"))):
        sources = st.multiselect(
            "Source models, any of them",
            sorted({name for task in tasks for name in task.source_models}),
            key="model",
            bind="query-params",
        )
    return Search(text, families, dtypes, operators, sources, splits, sizes, states)


def chips(label: str, key: str, options: set[str] | list[str]) -> list[str]:
    """Chips of which any number is chosen; nothing is drawn where there is nothing to choose."""
    listed = sorted(options) if isinstance(options, set) else options
    if len(listed) < 2:
        return []
    return list(st.pills(label, listed, selection_mode="multi", key=key, bind="query-params"))


def task_row(task: TaskSummary, standing: TaskStanding) -> dict[str, object]:
    return {
        "task": task.id,
        "subgraphs": task.subgraphs,
        "operations": task.operations,
        "operators": " ".join(task.operators),
        "dtypes": " ".join(task.dtypes),
        "best": standing.best_speedup,
        "right": f"{standing.right} of {task.subgraphs}",
        "split": task.split,
        "family": task.family.value,
        "models": ", ".join(task.source_models),
    }


def preview(task_id: str, standing: TaskStanding) -> None:
    """What a task computes, and how it stands."""
    task = resources.service().corpus.task(task_id)
    st.subheader(plain(task.id))
    st.caption(
        f"{plain(task.family.value)} · {count(len(task.subgraphs), 'subgraph')} · "
        f"{count(standing.attempts, 'attempt')}, right on {standing.right} of {len(task.subgraphs)}"
    )
    with st.container(horizontal=True):
        links.link("workbench", "Write a pass for it", icon=":material/construction:", task=task.id)
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
    graph_view(resources.graph(first.code), title=f"First subgraph of {task.id}", height=380)
    with st.expander("Inputs", icon=":material/input:"):
        st.dataframe(input_rows(first), hide_index=True, width="stretch")
    with st.expander("Source", icon=":material/code:"):
        st.code(first.code, language="python", line_numbers=True)
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


st.title("Explore")
service = resources.service()
all_tasks = service.corpus.tasks()
standings = standing_by_task(service.standings())
matching = found(all_tasks, search_fields(all_tasks), standings)
for problem in service.problems:
    st.warning(plain(problem), icon=":material/folder_off:")
chosen = links.selected("task")
table, side = st.columns([1.25, 1], gap="medium")
with table:
    st.caption(f"{len(matching):,} of {count(len(all_tasks), 'task')}. Choose a row to look at it.")
    if matching:
        choose_row(
            [task_row(each, standings.get(each.id, TaskStanding())) for each in matching],
            [each.id for each in matching],
            key="tasks",
            choose=functools.partial(links.select, "task"),
            height=620 if len(matching) > 16 else None,
            column_config={
                "best": st.column_config.NumberColumn(
                    "best", format="%.2f×", help="Best speedup over eager, end to end"
                ),
                "task": st.column_config.TextColumn("task", pinned=True),
                "operators": st.column_config.TextColumn("operators", width="medium"),
            },
        )
    else:
        st.info("No task fits. Take a chip away, or search for less.", icon=":material/filter_alt_off:")
with side:
    if chosen:
        preview(chosen, standings.get(chosen, TaskStanding()))
    elif matching:
        st.info("Nothing is chosen yet. A row on the left shows its graph here.", icon=":material/touch_app:")
