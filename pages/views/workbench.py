"""Workbench: one subgraph, the passes that a visitor writes for it, and the judge's verdict."""

import functools
import threading
from collections.abc import Sequence

import streamlit as st

from pages.ui import bench, drafting, editor, elsewhere, frame, links, resources, sharing, talk
from pages.ui.bench import BenchView
from pages.ui.components import input_rows, match_marks, subgraph_title
from pages.ui.drafting import EditorDraft
from pages.ui.editor import EditorMessage
from pages.ui.graphs import STRETCH, graph_view
from pages.ui.options import options_menu, spec_of
from pages.ui.panes import panes
from pages.ui.results import result_tabs
from pages.ui.text import count, plain
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import UnknownItem
from passnet_core.graphs import rendering
from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph
from passnet_core.records import Finding, MatchReport, Profile, Stage, Subgraph, Task

PANES = ("graph", "editor", "results")
WIDTHS = (26, 42, 32)
SHAPES_S = 0.2
POLL_S, POLLS = 1.5, 20
INSERTED = "inserted"  # session state: (serial number, line) to insert into the pattern
LISTED = 12
"""How many drafts are listed."""
LAST = "last task"  # session state: what the URL selected here when the visitor left


def workbench(task: Task) -> None:
    links.arrive("workbench", task.id)
    with frame.errors_shown():
        sharing.open_packed(task)
    with st.container(key="bench-head", horizontal=True, vertical_alignment="center", gap="xsmall"):
        drafting.turn_to_copy(task)
        subgraph, slot = selectors(task)
        draft = drafting.open_draft(task, slot)
        toolbar(task, draft)
        here = bench.latest(task, subgraph, draft)
        sharing.copy_link(task, draft, here.run_id if here.is_current else None)
    bench.verdict_bar(here)
    if asked := links.selected("talk"):
        talk.drawer(task, draft, asked)
    left, centre, right = panes(PANES, WIDTHS)
    graph = resources.graph(subgraph.code)
    with left:
        subgraph_pane(subgraph, graph, here.outcome.match if here.outcome else None, draft)
    with centre:
        spec = spec_of(resources.service().device().device, Stage.CHECK)
        found = findings(draft.bundle, spec.replacement_cap, passnet=spec.profile is Profile.PASSNET)
        failed = editor.failures(here.outcome, found)
        editor_pane(task, draft, here, graph, [*found, *failed])
    with right:
        apply = functools.partial(drafting.apply_lines, draft)
        result_tabs(
            here.outcome,
            subgraph,
            draft.bundle,
            of=f"workbench {task.id}",
            apply=apply,
            verdict=functools.partial(here.draw, apply, [*found, *failed]),
        )
    st.session_state[LAST] = dict(st.query_params)


def editor_pane(task: Task, draft: EditorDraft, here: BenchView, graph: Graph, found: Sequence[Finding]) -> None:
    drafting.draw_editor(
        task,
        draft,
        findings=[*found, *editor.misses(draft.bundle, here.outcome.match if here.outcome else None)],
        operations=editor.completed(graph),
        insert=st.session_state.get(INSERTED),
        on_asked=command,
    )
    passes = count(len(draft.drawn.passes), "pass", "passes")
    saved = ":material/save: Saved as a draft" if draft.theirs is None else ":material/save_as: Not saved"
    title = drafting.slot_titles(task, draft.slot.name)[draft.slot.name]
    st.caption(f"{saved} · {plain(title)} · {passes} · digest {draft.bundle.digest[:8]}")


def subgraph_pane(subgraph: Subgraph, graph: Graph, match: MatchReport | None, draft: EditorDraft) -> None:
    """Show the subgraph as a graph, its inputs, its source, and where else the passes match."""
    picture, inputs, source, others = st.tabs(["Graph", "Inputs", "Source", "Other tasks"], height="stretch")
    with picture:
        st.caption(
            f"{plain(subgraph_title(subgraph))} · from {plain(subgraph.source_model)}",
        )
        subgraph_view(subgraph, graph, match)
    with inputs:
        st.dataframe(input_rows(subgraph), hide_index=True, width="stretch")
    with source:
        st.code(subgraph.code, language="python", line_numbers=True)
        st.download_button(
            "Download as DOT",
            lambda: rendering.dot(graph),
            file_name="subgraph.dot",
            icon=":material/download:",
            on_click="ignore",
        )
    with others:
        elsewhere.other_matches(draft.bundle)


def subgraph_view(subgraph: Subgraph, graph: Graph, match: MatchReport | None) -> None:
    """Show the graph with the shapes and dtypes of its values; poll for them until they are known."""
    polls = st.session_state.setdefault(f"shapes-{subgraph.digest}", 0)
    asked = [subgraph] if polls < POLLS else []
    known = resources.service().inspect_within(asked, SHAPES_S, threading.Event()).get(subgraph.id)
    graph_view(
        graph,
        title=f"Subgraph {subgraph.id}",
        **match_marks(match),
        inputs=subgraph.inputs,
        values={
            each.node: (each.tensors[0].shape, each.tensors[0].dtype)
            for each in (known.values if known else ())
            if len(each.tensors) == 1
        },
        height=STRETCH,
        on_insert=lambda name: insert(graph, name),
    )
    if asked and known is None:
        poll_shapes(subgraph)


@st.fragment(run_every=POLL_S)
def poll_shapes(subgraph: Subgraph) -> None:
    """Rerun the page once the shapes are known, or after the last poll."""
    st.session_state[f"shapes-{subgraph.digest}"] += 1
    known = resources.service().inspect_within([subgraph], 0.0, threading.Event())
    if known or st.session_state[f"shapes-{subgraph.digest}"] >= POLLS:
        st.rerun()


@frame.action
def insert(graph: Graph, name: str) -> None:
    """Have the editor insert a node of the graph into the pattern."""
    node = graph.by_name[name]
    serial, _ = st.session_state.get(INSERTED, (0, ""))
    st.session_state[INSERTED] = (serial + 1, f"{name} = {expression(node)}")


def selectors(task: Task) -> tuple[Subgraph, str]:
    """Draw the title and the selectors; return the subgraph and the slot. What the URL names and does not exist is
    reported, and the first subgraph or the visitor's own passes are shown instead."""
    st.title(plain(task.id), anchor=False, width="stretch")
    if not task.subgraphs:
        raise UnknownItem(f"Task {task.id!r} has no subgraphs. Choose another task to write a pass for.")
    ids = [each.id for each in task.subgraphs]
    asked = links.selected("subgraph")
    if asked and asked not in ids:
        links.select("subgraph", None)
        frame.report(UnknownItem(f"Task {task.id!r} has no subgraph {asked!r}. This is its first one."))
    titles = _titles(task)
    subgraph_id = st.selectbox(
        f"Subgraph (of {len(ids)})",
        ids,
        key="subgraph",
        bind="query-params",
        label_visibility="collapsed",
        width=130,
        help=f"Subgraph, one of {len(ids)}",
    )
    slot = st.selectbox(
        "Passes",
        list(titles),
        key="bundle",
        bind="query-params",
        label_visibility="collapsed",
        width=170,
    )
    return task.subgraph(subgraph_id), slot


def _titles(task: Task) -> dict[str, str]:
    """Return the slots with their titles. Passes that the URL names and that do not exist are reported and dropped."""
    try:
        return drafting.slot_titles(task, links.selected("bundle"))
    except UnknownItem as error:
        links.select("bundle", None)
        frame.report(error)
        return drafting.slot_titles(task, None)


def toolbar(task: Task, draft: EditorDraft) -> None:
    with_files = bool(draft.drawn.files)
    st.button(
        "Check",
        icon=":material/fact_check:",
        on_click=start,
        args=(task, draft, Stage.CHECK, False),
        disabled=not with_files,
        help="Applies the static rules and matches the patterns, and keeps the result. Needs no GPU.",
    )
    st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        on_click=start,
        args=(task, draft, None, False),
        disabled=not with_files,
        help="Compares values on this subgraph and, with a GPU, measures time.",
    )
    if len(task.subgraphs) > 1:
        st.button(
            f"Run all {len(task.subgraphs)}",
            on_click=start,
            args=(task, draft, None, True),
            disabled=not with_files,
            help="Runs every subgraph of the task. A bundle has to handle them all.",
        )
    st.button(
        "Write it for me",
        icon=":material/auto_fix_high:",
        on_click=links.select,
        args=("talk", talk.RULES),
        help="Rules propose passes within a second. Needs no model; your own passes stay as they are.",
    )
    st.button(
        "Model",
        icon=":material/smart_toy:",
        on_click=links.select,
        args=("talk", talk.NEW),
        help="A language model writes passes, reads what the judge says, and tries again.",
    )
    with st.popover("More", icon=":material/more_horiz:"):
        more(task, draft)


def more(task: Task, draft: EditorDraft) -> None:
    files, options, other = st.tabs(["Files", "Options", "Drafts"])
    with files:
        drafting.file_menu(draft)
        original = drafting.original(task, draft.slot.name)
        st.button(
            "Start over",
            icon=":material/restart_alt:",
            on_click=drafting.start_over,
            args=(draft, original),
            disabled=draft.bundle.digest == original.digest,
            help="Restores the text that these passes started with.",
        )
    with options:
        options_menu(resources.service().device().device)
    with other:
        drafts_list()
        links.link("explore", "Choose another task", icon=":material/travel_explore:")


def start(task: Task, draft: EditorDraft, stage: Stage | None, everything: bool) -> None:
    """Submit the text of the editor for the selected subgraph, or for every subgraph of the task."""
    bench.submit(task, draft, draft.bundle, stage, everything=everything)


def command(task: Task, held: EditorMessage) -> None:
    """Carry out a command of the editor on the text that came with it."""
    draft = drafting.save_text(task, held)
    if draft is not None:
        bench.submit(task, draft, draft.drawn, Stage.CHECK if held.what == "check" else None)


def drafts_list() -> None:
    drafts = drafting.saved_drafts()
    if drafts:
        st.markdown("**Your drafts**")
    drafting.draft_links(drafts[:LISTED])


def choose_task() -> None:
    st.title("Workbench")
    st.markdown("Choose a task first: a set of similar subgraphs, all of which one bundle of passes has to handle.")
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    drafts_list()


def last_one() -> dict[str, str] | None:
    """Return what to open without a task in the URL: what this tab had open last, or the visitor's newest draft."""
    kept: dict[str, str] | None = st.session_state.get(LAST)
    drafts = () if kept else drafting.saved_drafts()
    if kept or not drafts:
        return kept
    newest = drafts[0]
    return {"task": newest.task_id} | ({} if newest.slot == drafting.MINE else {"bundle": newest.slot})


chosen = links.selected("task")
if chosen is None and (last := last_one()):
    links.turn_to(last)
    st.rerun()
if chosen is None:
    choose_task()
else:
    try:
        opened = resources.service().corpus.task(chosen)
    except UnknownItem as error:
        frame.report(error)
        st.session_state.pop(LAST, None)
        choose_task()
    else:
        workbench(opened)
