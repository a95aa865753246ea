"""Runs: all runs, newest first. Each run has a permanent page with everything needed to repeat it."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.ui import frame, links, live, resources
from pages.ui.comparing import choose_other, comparison, offer_other_rules
from pages.ui.components import PROFILES, announce, headline_words, verdict_card
from pages.ui.results import result_tabs
from pages.ui.run_filters import RunSearch, run_filters
from pages.ui.run_notes import note_and_star
from pages.ui.shares import cards, sharing_toggle
from pages.ui.tables import choose_outcome
from pages.ui.text import code_span, count, key_of, plain, short_when, when
from pages.ui.uploads import import_run
from pages.ui.words import VERDICTS
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import Contender, Outcome, Run, Verdict, to_json
from passnet_core.reports.authors import MINE, author_of, origin_words, solver_words
from passnet_core.reports.comparison import environment_facts
from passnet_core.reports.gathering import run_report
from passnet_core.reports.gravity import summary_words, worst_first
from passnet_core.reports.history import label_of
from passnet_core.reports.previews import run_title, tasks_words
from passnet_core.reports.reproducing import reproducer_of
from passnet_core.service import RunNote, RunSummary

LISTED = 500
WATCH_S = 2.0
UNDER_WAY, ENDED_EARLY = "under way", "ended early"


def history() -> None:
    st.title("Runs")
    search = run_filters([task.id for task in resources.shared().corpus.tasks()])
    service = resources.service()
    found = service.runs(
        LISTED,
        search.task_id,
        search.solver,
        checks=search.checks,
        mine=search.own,
        verdicts=search.verdicts,
        starred=search.starred,
    )
    # what others have not finished is nobody's business yet
    runs = [each for each in found if each.done == each.total or each.visitor in (service.owner, "")]
    if runs:
        table_of_runs(runs)
    else:
        nothing(search)
    if service.may_import:
        with st.expander("Import a run", icon=":material/upload_file:"):
            import_run()


def nothing(search: RunSearch) -> None:
    """Say why no run is listed."""
    if search == RunSearch():
        st.info("No run to show. Once you Check or Run passes in the Workbench, the run appears here.")
        links.link("explore", "Choose a task", icon=":material/travel_explore:")
    else:
        st.info("No run fits these filters. Remove one of them.", icon=":material/filter_alt:")


def table_of_runs(runs: Sequence[RunSummary]) -> None:
    """Draw the list of runs with a box per row: one selected run can be opened, two can be compared."""
    open_ones = {each.run.id: resources.service().progress(each.run.id) for each in runs if each.done < each.total}
    watched = {run_id: each.done for run_id, each in open_ones.items() if not each.finished}
    if watched:
        watch(watched)
    notes = resources.service().run_notes()
    rows = [run_row(each, open_ones.get(each.run.id), notes.get(each.run.id)) for each in runs]
    ids = [each.run.id for each in runs]
    # above the table, which may be higher than the window
    place = st.container(horizontal=True, vertical_alignment="center", key="chosen-runs")
    picked = st.dataframe(
        rows,
        # Streamlit keeps the positions of selected rows, so the key changes with the rows
        key=key_of("runs", "\n".join(ids)),
        hide_index=True,
        width="stretch",
        height=560 if len(rows) > 14 else "auto",
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
        column_order=columns(rows),
        column_config=column_config(runs),
    ).selection.rows
    with place:
        offer([ids[each] for each in sorted(picked) if each < len(ids)])
    st.caption(
        f"{'The newest ' if len(runs) >= LISTED else ''}{count(len(runs), 'run')}. The column “what” shows how a "
        "run differs from the same visitor's previous run on the same tasks."
    )


def offer(chosen: Sequence[str]) -> None:
    """Draw what can be done with the selected runs. chosen: their ids, the newest first."""
    if len(chosen) == 1:
        links.turn("Open this run", icon=":material/open_in_full:", run=chosen[0])
        st.caption("Select a second run to compare the two.")
    elif len(chosen) == 2:
        links.turn("Compare these two", icon=":material/compare_arrows:", run=chosen[0], against=chosen[1])
    elif chosen:
        st.caption(f"{count(len(chosen), 'run')} are selected. Two can be compared.")
    else:
        st.caption("Tick one run to open it, or two to compare them.")


@st.fragment(run_every=WATCH_S)
def watch(done: Mapping[str, int]) -> None:
    """Draw the page again when one of these runs has come further. done: how many jobs of each had an outcome."""
    with frame.errors_shown():
        now = {run_id: resources.service().progress(run_id) for run_id in done}
        if any(each.finished or each.done != done[run_id] for run_id, each in now.items()):
            st.rerun()


def run_row(summary: RunSummary, progress: Progress | None, kept: RunNote | None) -> dict[str, object]:
    """Return the row of a run. progress: None for one with all its outcomes. kept: what the visitor keeps about it."""
    run = summary.run
    judged = f"{progress.done} of {progress.total} judged" if progress else ""
    return {
        "started": short_when(run.started_at),
        "what": label_of(summary, resources.bundle),
        "task": tasks_words(run),
        "verdicts": [*_state(progress), *(_chip(*each) for each in summary.counts)],
        "speedup": summary.median_speedup,
        "accepted": judged or f"{summary.accepted} of {summary.total}",
        "device": summary.device,
        "starred": "★" if kept and kept.starred else "",
        "note": kept.note if kept else "",
        "solver": solver_words(run, own=summary.visitor == resources.service().owner),
        "stage": run.spec.stage.value,
        "capture": run.spec.capture.value,
        "judged by": PROFILES[run.spec.profile],
        "run": run.id,
    }


def columns(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns to draw: all but those for stars, notes and speedups if no row has one."""
    optional = ("starred", "note", "speedup")
    return [name for name in rows[0] if name not in optional or any(row[name] for row in rows)]


def column_config(runs: Sequence[RunSummary]) -> dict[str, Any]:
    """Return how the columns are drawn: a chip for each verdict, in its colour."""
    tones = {_chip(*each): VERDICTS[each[0]].tone for summary in runs for each in summary.counts}
    chips = {UNDER_WAY: "violet", ENDED_EARLY: "red", **tones}
    return {
        "started": st.column_config.TextColumn("started, UTC", help="Runs from today show only the time"),
        "what": st.column_config.TextColumn(width=300),
        "task": st.column_config.TextColumn(width="medium"),
        "verdicts": st.column_config.MultiselectColumn(width="medium", options=list(chips), color=list(chips.values())),
        "speedup": st.column_config.NumberColumn("median speedup", format="%.2f×"),
        "starred": st.column_config.TextColumn("★", help="Runs that you starred"),
        "note": st.column_config.TextColumn(width="medium"),
    }


def _state(progress: Progress | None) -> list[str]:
    if progress is None:
        return []
    return [ENDED_EARLY if progress.finished else UNDER_WAY]


def _chip(verdict: Verdict, number: int) -> str:
    return verdict.value if number == 1 else f"{number} {verdict.value}"


def permanent_page(run_id: str) -> None:
    """Show one run: its verdicts, the details of one subgraph, and how to repeat it."""
    links.turn("All runs", icon=":material/arrow_back:")
    service = resources.service()
    progress, own = service.progress(run_id), service.is_own(run_id)
    run = progress.run
    st.title(plain(run_title(progress, own=own)))
    st.caption(facts(run, own=own))
    note_and_star(run_id)
    if resources.serves_others() and own:
        sharing_toggle(run_id, shared=service.is_shared(run_id), share=service.share)
    if not progress.finished:
        live.under_way(progress)
    with st.container(key="announced"):
        announce(_announced(progress))
    if not progress.finished:
        return
    if progress.problem:
        st.error(plain(progress.problem), title="The run ended early")
    if not progress.outcomes:
        st.info("This run has no outcome.")
        return
    outcome = links.selected_of(progress.outcomes) or worst_first(progress.outcomes)[0]
    table, card = st.columns([1.4, 1], gap="medium")
    with table:
        if progress.total > 1:
            st.markdown(f"**{_announced(progress)}**")
        choose_outcome(progress.outcomes, key=f"outcomes-{run_id}", choose=links.select_place, chosen=outcome)
        actions(run, outcome, run_title(progress))
    with card:
        verdict_card(outcome, recorded=run.recorded)
    with frame.errors_shown():
        details(outcome)
    repeat(run, outcome)


def facts(run: Run, *, own: bool) -> str:
    """Say in one line, as Markdown, whose passes a run judged, when and how. own: whether the reader started it."""
    bundle = resources.bundle(run.bundle_digest) if run.bundle_digest else None
    names = {each.bundle.digest: each.name for each in resources.shared().reference_bundles()}
    author = author_of(run, bundle, reference=names.get(run.bundle_digest or "", ""), own=own)
    pieces = (
        f"passes by {author}" if author and run.label != MINE else "",
        when(run.started_at),
        f"{run.spec.stage.value}, {run.spec.capture.value} capture, judged by: {PROFILES[run.spec.profile]}",
        origin_words(run) if run.recorded else "",
        f"run {run.id}",
    )
    return plain(" · ".join(filter(None, pieces)))


def _announced(progress: Progress) -> str:
    if not progress.finished:
        return "Running…"
    if progress.total == 1:
        return plain(headline_words(progress.outcomes[0]))
    return plain(summary_words(progress.outcomes, progress.total))


def actions(run: Run, outcome: Outcome, title: str) -> None:
    with st.container(horizontal=True):
        links.link(
            "workbench",
            "Open in the Workbench",
            icon=":material/construction:",
            task=outcome.task_id,
            subgraph=outcome.subgraph_id,
            bundle=run.bundle_digest,
            run=run.id,
        )
        st.download_button(
            "Export",
            functools.partial(resources.service().export_run, run.id),
            file_name=f"{run.id}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Download report",
            functools.partial(run_report, resources.service(), run.id),
            file_name=f"{run.id}.html",
            mime="text/html",
            icon=":material/summarize:",
            on_click="ignore",
            help="The whole run as one HTML file, which opens without this app and without a network.",
        )
        if outcome.match is not None and outcome.match.rewritten:
            st.download_button(
                "Reproduce",
                functools.partial(reproducer_of, resources.service(), outcome),
                file_name=f"{outcome.task_id}-{run.id[:8]}.py",
                mime="text/x-python",
                icon=":material/terminal:",
                on_click="ignore",
                help="This outcome as one Python file that needs torch and Triton only.",
            )
        cards(run.id, title)
        offer_other_rules(run, outcome)
    choose_other(run.id, outcome.task_id)


def details(outcome: Outcome) -> None:
    bundle = resources.service().bundle(outcome.bundle_digest) if outcome.bundle_digest else None
    subgraph = resources.shared().corpus.task(outcome.task_id).subgraph(outcome.subgraph_id)
    result_tabs(outcome, subgraph, bundle, of=outcome.job_digest)


def repeat(run: Run, outcome: Outcome) -> None:
    with st.expander("Everything needed to repeat this run", icon=":material/replay:"):
        candidate = run.bundle_digest or run.spec.names[Contender.BASELINE]
        st.markdown(f"Candidate {code_span(candidate)}, job {code_span(outcome.job_digest)}")
        st.json(to_json(run.spec))
        if outcome.environment:
            rows = [{"what": name, "value": value} for name, value in environment_facts(outcome.environment) if value]
            st.dataframe(rows, hide_index=True, width="content")


chosen, other = links.selected("run"), links.selected("against")
if chosen is None:
    history()
elif other is None:
    permanent_page(chosen)
else:
    comparison(chosen, other)
