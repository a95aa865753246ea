"""Workbench: one subgraph, the passes that a visitor writes for it, and the judge's verdict."""

import functools
import threading
from collections.abc import Sequence

import streamlit as st

from pages.ui import drafting, editor, frame, links, live, resources, talk, visitors
from pages.ui.components import finding_list, input_rows, match_marks, subgraph_title, verdict_card
from pages.ui.drafting import EditorDraft
from pages.ui.editor import EditorMessage
from pages.ui.graphs import graph_view
from pages.ui.options import options_menu, spec_of
from pages.ui.results import result_tabs
from pages.ui.tables import choose_outcome
from pages.ui.text import count, plain, when
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.corpus.surveying import TaskMatches
from passnet_core.graphs import rendering
from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, MatchReport, Outcome, Profile, Stage, Subgraph, Task

COLUMNS = (0.8, 1.5, 0.95)
MATCHED_SHOWN = 24
SHAPES_S = 0.2
POLL_S, POLLS = 1.5, 20
INSERTED = "inserted"  # session state: (serial number, line) to insert into the pattern


def workbench(task: Task) -> None:
    context = f"workbench {task.id}"
    subgraph, slot = selectors(task)
    draft = drafting.open_draft(task, slot)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        toolbar(task, draft, context)
    if asked := links.selected("talk"):
        talk.drawer(task, draft, asked)
    left, centre, right = st.columns(COLUMNS, gap="medium")
    graph = resources.graph(subgraph.code)
    with right:
        outcome = result(links.arrived("run", context), draft, subgraph)
    with centre:
        spec = spec_of(resources.service().device().device, Stage.CHECK)
        found = findings(draft.bundle, spec.replacement_cap, passnet=spec.profile is Profile.PASSNET)
        is_current = outcome is not None and outcome.bundle_digest == draft.bundle.digest
        failed = editor.failures(outcome if is_current else None, found)
        drafting.draw_editor(
            task,
            draft,
            findings=[*found, *failed, *editor.misses(draft.bundle, outcome.match if outcome and is_current else None)],
            operations=editor.completed(graph),
            insert=st.session_state.get(INSERTED),
            on_asked=lambda task, held: command(task, held, context),
        )
        passes = count(len(draft.drawn.passes), "pass", "passes")
        saved = ":material/save: Saved as a draft" if draft.theirs is None else ":material/save_as: Not saved"
        st.caption(f"{saved} · {passes} · digest {draft.bundle.digest[:8]}")
        finding_list([*found, *failed], draft.bundle, editor.go_to)
    with left:
        match = outcome.match if outcome else None
        subgraph_view(subgraph, graph, match)
        with st.expander("Inputs", icon=":material/input:"):
            st.dataframe(input_rows(subgraph), hide_index=True, width="stretch")
        with st.expander("Source", icon=":material/code:"):
            st.code(subgraph.code, language="python", line_numbers=True)
            st.download_button(
                "Download as DOT", lambda: rendering.dot(graph), file_name="subgraph.dot", icon=":material/download:",
                on_click="ignore",
            )  # fmt: skip
        with st.expander("Where else do these passes match?", icon=":material/manage_search:"):
            other_matches(draft.bundle)
    if outcome:
        judged = outcome.bundle_digest and resources.service().bundle(outcome.bundle_digest)
        apply = functools.partial(drafting.apply_lines, draft) if is_current else None
        result_tabs(outcome, subgraph, judged or None, key=f"tabs-{outcome.job_digest}", apply=apply)


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
        height=430,
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
    """Draw the selectors; return the subgraph and the slot. Raises UnknownItem if the URL names one that is missing."""
    asked_subgraph, asked_slot = links.selected("subgraph"), links.selected("bundle")
    titles = drafting.slot_titles(task, asked_slot)
    if asked_subgraph:
        task.subgraph(asked_subgraph)
    heading, middle, right = st.columns(COLUMNS, gap="medium", vertical_alignment="bottom")
    heading.markdown(f"### {plain(task.id)}")
    with middle:
        subgraph_id = st.selectbox(
            f"Subgraph (of {len(task.subgraphs)})",
            [each.id for each in task.subgraphs],
            key="subgraph",
            bind="query-params",
        )
    with right:
        slot = st.selectbox(
            "Passes",
            list(titles),
            key="bundle",
            bind="query-params",
            help="Your own passes or a reference bundle. Each has its own draft, so switching overwrites nothing.",
        )
    subgraph = task.subgraph(subgraph_id)
    st.caption(
        f"{plain(subgraph_title(subgraph))} · {plain(task.family.value)}, from {plain(subgraph.source_model)} · "
        f"{plain(titles[slot])}"
    )
    return subgraph, slot


def toolbar(task: Task, draft: EditorDraft, context: str) -> None:
    with_files = bool(draft.drawn.files)
    st.button(
        "Check",
        icon=":material/fact_check:",
        on_click=start,
        args=(task, draft, Stage.CHECK, False, context),
        disabled=not with_files,
        help="Applies the static rules and matches the patterns. Needs no GPU.",
    )
    st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        on_click=start,
        args=(task, draft, None, False, context),
        disabled=not with_files,
        help="Compares values on this subgraph and, with a GPU, measures time.",
    )
    if len(task.subgraphs) > 1:
        st.button(
            f"Run all {len(task.subgraphs)}",
            on_click=start,
            args=(task, draft, None, True, context),
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
    with st.popover("Options", icon=":material/tune:"):
        options_menu(resources.service().device().device)
    with st.popover("Files", icon=":material/folder:"):
        drafting.file_menu(draft)
    original = drafting.original(task, draft.slot.name)
    st.button(
        "Start over",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=drafting.start_over,
        args=(draft, original),
        disabled=draft.bundle.digest == original.digest,
        help="Restores the text that these passes started with.",
    )


@frame.action
def start(task: Task, draft: EditorDraft, stage: Stage | None, everything: bool, context: str) -> None:
    """Submit the text of the editor for the selected subgraph, or for every subgraph of the task."""
    submit(task, draft, draft.bundle, stage, everything, context)


def command(task: Task, held: EditorMessage, context: str) -> None:
    """Carry out a command of the editor on the text that came with it."""
    draft = drafting.save_text(task, held)
    if draft is not None:
        submit(task, draft, draft.drawn, Stage.CHECK if held.what == "check" else None, False, context)


def submit(task: Task, draft: EditorDraft, bundle: Bundle, stage: Stage | None, everything: bool, context: str) -> None:
    editor.go_to_syntax_error(bundle)
    run_id = resources.service().submit(
        task,
        bundle,
        spec_of(resources.service().device().device, stage),
        subgraph_ids=None if everything else [st.session_state["subgraph"]],
        label=drafting.label(task, draft),
        owner=visitors.visitor(),
    )
    links.hand_over("run", run_id, context)


def result(run_id: str | None, draft: EditorDraft, subgraph: Subgraph) -> Outcome | None:
    """Show what a run says of the subgraph, and return its outcome; None if there is none yet."""
    if run_id is None:
        st.info(
            "**Check** tells at once whether the passes follow the rules and what they match. "
            "**Run** also compares values and, with a GPU, measures time.",
            icon=":material/lightbulb:",
        )
        return None
    progress = live.await_run(run_id)
    if progress is None:
        return None
    if progress.problem:
        st.error(plain(progress.problem), title="The run ended early")
    here = [each for each in progress.outcomes if each.task_id == subgraph.task_id]
    outcome = next((each for each in here if each.subgraph_id == subgraph.id), None)
    if progress.run.bundle_digest != draft.bundle.digest:
        other_code(progress.run.bundle_digest, subgraph.task_id)
    if outcome is None:
        st.info(f"This run did not judge the selected subgraph. It judged {count(progress.done, 'other')}.")
    else:
        verdict_card(outcome, recorded=progress.run.recorded)
    total = progress.total if len(progress.run.task_ids) == 1 else len(here)
    if here and total > 1:
        accepted = sum(each.verdict.accepted for each in here)
        with st.expander(f"{accepted} of {total} subgraphs accepted", icon=":material/dataset:"):
            choose_outcome(here, key=f"outcomes-{run_id}", choose=select_subgraph)
    place = {"task": subgraph.task_id, "subgraph": subgraph.id}
    links.link("runs", "Permanent page of this run", icon=":material/link:", run=run_id, **place)
    return outcome


def other_code(digest: str | None, task_id: str) -> None:
    """Say that a result is not that of the code in the editor, and offer the code that it is of."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(":material/edit_note: This result is for different code.")
        if digest is not None:
            st.button("Load that code", icon=":material/history:", on_click=load_code, args=(task_id, digest))


@frame.action
def load_code(task_id: str, digest: str) -> None:
    drafting.open_stored(resources.service().corpus.task(task_id), digest)


def other_matches(bundle: Bundle) -> None:
    """Search all tasks for matches of the bundle. The result stays until the bundle changes."""
    tasks = resources.service().corpus.tasks()
    every = f"{count(sum(task.subgraphs for task in tasks), 'subgraph')} of {count(len(tasks), 'task')}"
    st.caption(f"Searches {every} for matches of these passes. Any other action on this page stops the search.")
    if st.button("Search all tasks", icon=":material/travel_explore:", disabled=not bundle.passes):
        st.session_state["elsewhere"] = (bundle.digest, searched(bundle, [task.id for task in tasks]))
    digest, found = st.session_state.get("elsewhere", ("", ()))
    if digest != bundle.digest:
        if digest:
            st.caption(":material/edit_note: This search was for different code.")
        return
    matched = [each for each in found if each.matched]
    subgraphs = count(sum(each.matched for each in matched), "subgraph")
    st.markdown(f"The passes match **{subgraphs}** of {count(len(matched), 'task')}.")
    for each in sorted(matched, key=lambda each: (-each.matched, each.task_id))[:MATCHED_SHOWN]:
        label = f"{plain(each.task_id)} · {each.matched} of {each.subgraphs}"
        links.turn(label, icon=":material/join_inner:", task=each.task_id)
    if len(matched) > MATCHED_SHOWN:
        st.caption(f"And {count(len(matched) - MATCHED_SHOWN, 'more task')}.")


def searched(bundle: Bundle, task_ids: Sequence[str]) -> list[TaskMatches]:
    """Survey these tasks, and show the progress. Raises BadInput, InfrastructureError."""
    bar, found = st.progress(0.0), []
    for each in resources.service().survey(bundle, task_ids):
        found.append(each)
        bar.progress(len(found) / len(task_ids), text=f"{len(found):,} of {count(len(task_ids), 'task')}")
    bar.empty()
    return found


def select_subgraph(place: str) -> None:
    st.session_state["subgraph"] = place.partition("\n")[2]


def choose_task() -> None:
    st.title("Workbench")
    st.markdown("Choose a task first: a set of similar subgraphs, all of which one bundle of passes has to handle.")
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    drafts = drafting.saved_drafts()
    if drafts:
        st.subheader("Your drafts")
    for each in drafts[:12]:
        links.turn(
            f"{plain(each.task_id)} · {plain(each.slot)} · {when(each.saved_at)}",
            icon=":material/edit_note:",
            task=each.task_id,
            bundle=None if each.slot == drafting.MINE else each.slot,
        )


chosen = links.selected("task")
if chosen is None:
    choose_task()
else:
    workbench(resources.service().corpus.task(chosen))
