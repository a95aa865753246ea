"""The desk at which passes are written: a graph, an editor and results, for the Workbench and for lessons."""

import contextlib
import functools
import threading
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import bench, drafting, editor, elsewhere, frame, links, resources
from pages.ui.bench import BenchView
from pages.ui.components import input_rows, match_marks, subgraph_title
from pages.ui.drafting import EditorDraft
from pages.ui.editor import EditorMessage
from pages.ui.graphs import STRETCH, graph_view
from pages.ui.places import place_of
from pages.ui.results import result_tabs
from pages.ui.text import count, plain
from passnet_core.advice.checklist import CheckedPart, PartState, checklist
from passnet_core.bundles.reading import folder_files, judged_of, zipped
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import UnknownItem
from passnet_core.graphs import rendering
from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Finding, MatchReport, Outcome, Profile, Stage, Subgraph, Task

PANES = ("graph", "editor", "results")
SHAPES_S = 0.2
KEPT_FINDINGS = 256
"""Of how many bundles the findings are kept: a page is drawn several times with the same one."""
POLL_S, POLLS = 1.5, 20
MARKS = {
    PartState.DONE: ":green[:material/check:]",
    PartState.WRONG: ":red[:material/close:]",
    PartState.OPEN: ":gray[:material/pending:]",
}
INSERTED = "inserted"  # session state: (serial number, line) to insert into the pattern


def desk(here: BenchView, places: Sequence[DeltaGenerator], before: Callable[[], None] = lambda: None) -> None:
    """Draw the three panes in these places. before: draws what comes before the verdict."""
    task, subgraph, draft = here.task, here.subgraph, here.draft
    graph = resources.graph(subgraph.code)
    left, centre, right = places
    with left:
        subgraph_pane(subgraph, graph, here.outcome.match if here.outcome else None, draft)
    with centre:
        spec = bench.spec_for(task, Stage.CHECK)
        found = _findings(draft.bundle, spec.replacement_cap, spec.profile is Profile.PASSNET)
        failed = editor.failures(here.outcome, draft.bundle, found)
        editor_pane(task, draft, here, graph, [*found, *failed])
    with right:
        apply = functools.partial(drafting.apply_lines, draft)

        def verdict() -> None:
            before()
            here.draw(apply, [*found, *failed])

        result_tabs(here.outcome, subgraph, draft.bundle, of=f"workbench {task.id}", apply=apply, verdict=verdict)


@functools.lru_cache(maxsize=KEPT_FINDINGS)
def _findings(bundle: Bundle, cap: int | None, passnet: bool) -> tuple[Finding, ...]:
    return tuple(findings(bundle, cap, passnet=passnet))


def selectors(task: Task, ids: Sequence[str]) -> tuple[Subgraph, str]:
    """Draw the selectors of one of these subgraphs and of a slot; return both. What the URL names and does not exist is
    reported, and the first subgraph or the visitor's own passes are shown instead."""
    drafting.turn_to_copy(task)
    if not task.subgraphs:
        raise UnknownItem(f"Task {task.id!r} has no subgraphs. Choose another task to write a pass for.")
    asked = links.selected("subgraph")
    if asked and asked not in ids:
        links.select("subgraph", None)
        # a lesson may have been left for another while the browser still named a subgraph of the former
        if place_of(task.id)[0] == "workbench":
            frame.report(UnknownItem(f"Task {task.id!r} has no subgraph {asked!r}. This is its first one."))
    titles = _titles(task)
    subgraph_id = ids[0]
    if len(ids) > 1:
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


def check_and_run(task: Task, draft: EditorDraft, *, check: str, run: str, whole: bool = False) -> None:
    """Draw the buttons that have the passes checked and judged. check, run: what they do, in words. whole: on every
    subgraph of the task, not only the chosen one."""
    without_files = not draft.drawn.files
    st.button(
        "Check",
        icon=":material/fact_check:",
        on_click=start,
        args=(task, draft, Stage.CHECK, whole),
        disabled=without_files,
        help=check,
    )
    st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        on_click=start,
        args=(task, draft, None, whole),
        disabled=without_files,
        help=run,
    )


def start_over(task: Task, draft: EditorDraft, words: str) -> None:
    """Draw the button that restores the text which the passes began with. words: what it does."""
    original = drafting.original(task, draft.slot.name)
    st.button(
        "Start over",
        icon=":material/restart_alt:",
        on_click=drafting.start_over,
        args=(draft, original),
        disabled=draft.bundle.digest == original.digest,
        help=words,
    )


def download_bundle(task: Task, draft: EditorDraft) -> None:
    """Draw the button that downloads the passes as a folder, with the subgraphs on which the run in the URL has
    accepted them."""
    run, bundle = links.selected("run"), draft.drawn

    def content() -> bytes:
        outcomes: Sequence[Outcome] = ()
        with contextlib.suppress(UnknownItem):
            outcomes = resources.service().outcomes(run) if run else ()
        ours = [each for each in outcomes if each.bundle_digest == bundle.digest]
        return zipped(folder_files(bundle, judged_of(task, ours)))

    st.download_button(
        "Download the bundle",
        content,
        file_name=f"{task.id}.zip",
        mime="application/zip",
        icon=":material/download:",
        on_click="ignore",
        disabled=not bundle.passes,
        help="A folder of files, for a model of your own or for the command line.",
    )


def _titles(task: Task) -> dict[str, str]:
    """Return the slots with their titles. Passes that the URL names and that do not exist are reported and dropped."""
    try:
        return drafting.slot_titles(task, links.selected("bundle"))
    except UnknownItem as error:
        links.select("bundle", None)
        frame.report(error)
        return drafting.slot_titles(task, None)


def editor_pane(task: Task, draft: EditorDraft, here: BenchView, graph: Graph, found: Sequence[Finding]) -> None:
    findings = [*found, *editor.misses(draft.bundle, here.outcome.match if here.outcome else None)]
    drafting.draw_editor(
        task,
        draft,
        findings=findings,
        operations=editor.completed(graph),
        insert=st.session_state.get(INSERTED),
        on_asked=command,
    )
    st.caption(" · ".join(map(_told, checklist(draft.bundle, findings, here.outcome))))
    passes = count(len(draft.drawn.passes), "pass", "passes")
    saved = ":material/save: Saved as a draft" if draft.theirs is None else ":material/save_as: Not saved"
    title = drafting.slot_titles(task, draft.slot.name)[draft.slot.name]
    st.caption(f"{saved} · {plain(title)} · {passes} · digest {draft.bundle.digest[:8]}")


def _told(checked: CheckedPart) -> str:
    """A part of the passes with its state; screen readers have a word for it."""
    where = f" line {checked.line}" if checked.line else ""
    return f"{MARKS[checked.state]} {checked.part.value}{where}"


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
    known = resources.shared().inspect_within(asked, SHAPES_S, threading.Event()).get(subgraph.id)
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
    known = resources.shared().inspect_within([subgraph], 0.0, threading.Event())
    if known or st.session_state[f"shapes-{subgraph.digest}"] >= POLLS:
        st.rerun()


@frame.action
def insert(graph: Graph, name: str) -> None:
    """Have the editor insert a node of the graph into the pattern."""
    node = graph.by_name[name]
    serial, _ = st.session_state.get(INSERTED, (0, ""))
    st.session_state[INSERTED] = (serial + 1, f"{name} = {expression(node)}")


def start(task: Task, draft: EditorDraft, stage: Stage | None, everything: bool) -> None:
    """Submit the text of the editor for the selected subgraph, or for every subgraph of the task."""
    bench.submit(task, draft, draft.bundle, stage, everything=everything)


def command(task: Task, held: EditorMessage) -> None:
    """Carry out a command of the editor on the text that came with it."""
    draft = drafting.save_text(task, held)
    if draft is not None:
        bench.submit(task, draft, draft.drawn, Stage.CHECK if held.what == "check" else None)
