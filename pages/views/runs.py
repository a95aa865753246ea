"""Runs: all runs, newest first. Each run has a permanent page with everything needed to repeat it."""

import functools

import streamlit as st

from pages.ui import frame, links, live, resources, visitors
from pages.ui.comparing import choose_other, choose_two, comparison, offer_other_rules
from pages.ui.components import PROFILES, announce, headline_words, solver_name, verdict_card
from pages.ui.results import result_tabs
from pages.ui.tables import choose_outcome, choose_row
from pages.ui.text import code_span, count, plain, when
from pages.ui.uploads import import_run
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import CONTENDER_NAMES, Contender, Outcome, Run, SolverKind, to_json
from passnet_core.reports.comparison import environment_facts
from passnet_core.reports.gathering import run_report
from passnet_core.service import RunSummary

SOLVERS = {CONTENDER_NAMES[each.contender]: each for each in SolverKind}


def history() -> None:
    st.title("Runs")
    first, second, third, fourth, fifth = st.columns([1.2, 1, 0.7, 1, 1], vertical_alignment="bottom")
    tasks = [task.id for task in resources.service().corpus.tasks()]
    task_id = first.selectbox("Task", tasks, index=None, key="of", bind="query-params", placeholder="all tasks")
    solver = second.pills("Solver", list(SOLVERS), key="solver", bind="query-params")
    own = third.toggle("Only mine", key="own", bind="query-params", help="Runs that were started in this browser")
    checks = fourth.toggle("Include check-only runs", key="checks", bind="query-params")
    two = fifth.toggle("Compare two runs", key="two", bind="query-params")
    me = visitors.visitor()
    found = resources.service().runs(
        500, task_id, SOLVERS.get(solver or ""), checks=checks, visitor=me if own else None
    )
    # what others have not finished is nobody's business yet
    runs = [each for each in found if each.done == each.total or each.visitor in (me, "")]
    if runs and two:
        choose_two([run_row(each) for each in runs], [each.run.id for each in runs])
    elif runs:
        choose_row(
            [run_row(each) for each in runs],
            [each.run.id for each in runs],
            key="runs",
            choose=functools.partial(links.select, "run"),
            height=560 if len(runs) > 14 else None,
            column_config={"speedup": st.column_config.NumberColumn("median speedup", format="%.2f×")},
        )
        st.caption(f"{count(len(runs), 'run')}. Choose a row to open the run.")
    else:
        st.info("No run to show. Once you Check or Run passes in the Workbench, the run appears here.")
        links.link("explore", "Choose a task", icon=":material/travel_explore:")
    with st.expander("Import a run", icon=":material/upload_file:"):
        import_run()


def run_row(summary: RunSummary) -> dict[str, object]:
    run = summary.run
    return {
        "started": when(run.started_at),
        "origin": "recorded" if run.recorded else "here",
        "solver": solver_name(run),
        "tasks": ", ".join(run.task_ids[:3]) + (f" and {len(run.task_ids) - 3} more" if len(run.task_ids) > 3 else ""),
        "accepted": f"{summary.accepted} of {summary.total}",
        **({"speedup": summary.median_speedup} if summary.median_speedup is not None else {}),
        "verdicts": ", ".join(f"{number} {verdict.value}" for verdict, number in summary.counts),
        "stage": run.spec.stage.value,
        "judged by": PROFILES[run.spec.profile],
        "device": summary.device,
        "run": run.id,
    }


def permanent_page(run_id: str) -> None:
    """Show one run: its verdicts, the details of one subgraph, and how to repeat it."""
    links.turn("All runs", icon=":material/arrow_back:")
    service = resources.service()
    run = service.run(run_id)
    st.title(f"Run {plain(run.id)}")
    st.caption(
        f"{plain(solver_name(run))} on {plain(', '.join(run.task_ids[:4]))} · "
        f"{when(run.started_at)} · {run.spec.stage.value}, {run.spec.capture.value} capture, "
        f"judged by: {plain(PROFILES[run.spec.profile])}"
        + (f" · recorded: {plain(run.recorded)}" if run.recorded else "")
    )
    progress = live.await_run(run_id)
    with st.container(key="announced"):
        announce(_announced(progress))
    if progress is None:
        return
    if progress.problem:
        st.error(plain(progress.problem), title="The run ended early")
    if not progress.outcomes:
        st.info("This run has no outcome.")
        return
    outcome = links.selected_of(progress.outcomes) or progress.outcomes[0]
    table, card = st.columns([1.4, 1], gap="medium")
    with table:
        choose_outcome(progress.outcomes, key=f"outcomes-{run_id}", choose=links.select_place)
        actions(run, outcome)
    with card:
        verdict_card(outcome, recorded=run.recorded)
    with frame.errors_shown():
        details(outcome)
    repeat(run, outcome)


def _announced(progress: Progress | None) -> str:
    if progress is None:
        return "Running…"
    if len(progress.outcomes) == 1:
        return plain(headline_words(progress.outcomes[0]))
    return f"{sum(each.verdict.accepted for each in progress.outcomes)} of {progress.total} accepted"


def actions(run: Run, outcome: Outcome) -> None:
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
        offer_other_rules(run, outcome)
    choose_other(run.id, outcome.task_id)


def details(outcome: Outcome) -> None:
    bundle = resources.service().bundle(outcome.bundle_digest) if outcome.bundle_digest else None
    subgraph = resources.service().corpus.task(outcome.task_id).subgraph(outcome.subgraph_id)
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
