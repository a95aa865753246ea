"""What the Workbench knows of the passes in the editor: a run of them, or else a check that needs no click."""

import ast
import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import drafting, editor, frame, links, live, resources
from pages.ui.components import announce, finding_list, headline_words, verdict_card
from pages.ui.drafting import EditorDraft
from pages.ui.match_view import Apply, suggestions
from pages.ui.options import spec_of
from pages.ui.places import place_of
from pages.ui.results import TAB, VERDICT
from pages.ui.tables import choose_outcome
from pages.ui.text import clock, count, is_before, plain
from pages.ui.words import VERDICTS
from passnet_core.errors import UnknownItem
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.lessons.grading import lesson_spec
from passnet_core.outside import syntax_tree
from passnet_core.people.quotas import QuotaExceeded
from passnet_core.records import Bundle, EvalSpec, Finding, Outcome, Run, Stage, Subgraph, Task

LIVE_S = 0.25
"""How long a page waits for a check before it is drawn without."""
AWAITED_S = {Stage.CHECK: 0.6, Stage.VERIFY: 0.8}
"""How long a page waits for a run whose turn has come: about as long as the run of a small subgraph takes. A page that
is drawn before has to be drawn again."""
POLL_S = 0.4
CODE_KEPT = 64
"""Of how many bundles the code without comments is kept: a page is drawn several times with the same one."""
SHOWN = "run whose result was shown last"  # session state


@dataclass(frozen=True)
class BenchView:
    """A task, a subgraph and a draft, with what is known of them.

    progress: of the run in the URL. judged: what that run says of this subgraph. is_current: whether the run is of the
    passes in the editor, comments and layout aside. checked: a check of these passes; None while it is under way, or if
    the run says more."""

    task: Task
    subgraph: Subgraph
    draft: EditorDraft
    progress: Progress | None = None
    judged: Outcome | None = None
    is_current: bool = False
    checked: Outcome | None = None

    @property
    def run_id(self) -> str | None:
        return self.progress.run.id if self.progress else None

    @property
    def outcome(self) -> Outcome | None:
        """What is known of the passes in the editor."""
        return self.judged if self.is_current and self.judged else self.checked

    @property
    def is_running(self) -> bool:
        return self.progress is not None and not self.progress.finished

    def draw(self, apply: Apply, findings: Sequence[Finding]) -> None:
        """Draw the verdict on the passes in the editor, and what the run says beyond it. findings: of the static
        rules, which need no judge, and places of errors."""
        applied = st.session_state.get(drafting.APPLIED)
        if applied and applied[0] == self.draft.bundle.digest:
            st.success(plain(applied[1]), icon=":material/edit:")
        if self.is_running and self.progress:
            live.under_way(self.progress)
        elif self.progress and self.progress.problem:
            st.error(plain(self.progress.problem), title="The run ended early")
        self._verdict(apply)
        finding_list(findings, self.draft.bundle, editor.go_to)
        if self.progress and self.progress.finished:
            self._run(self.progress)

    def _verdict(self, apply: Apply) -> None:
        outcome = self.outcome
        if outcome is None:
            self._nothing_yet()
        elif not self.is_running:
            recorded = self.progress.run.recorded if self.progress and outcome is self.judged else ""
            if outcome is self.judged and self.progress and not recorded:
                self._again(outcome, self.progress)
            verdict_card(outcome, recorded=recorded, more=lambda: suggestions(outcome, apply))

    def _nothing_yet(self) -> None:
        if not self.draft.bundle.files:
            st.info("There are no passes yet. Add one under More, Files.", icon=":material/note_add:")
        elif not self.is_running:
            await_check(self.task, self.draft.bundle, self.subgraph.id)

    def _again(self, outcome: Outcome, progress: Progress) -> None:
        """Say that a result is older than the run, because these passes had been judged before. A check finds the same
        each time, and has often been made while somebody typed."""
        if outcome.spec.stage is Stage.CHECK or not is_before(outcome.finished_at, progress.run.started_at):
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f":material/history: Same code, judged {plain(clock(outcome.finished_at))}.")
            st.button(
                "Judge again",
                icon=":material/refresh:",
                type="tertiary",
                on_click=submit,
                args=(self.task, self.draft, self.draft.bundle, outcome.spec.stage),
                kwargs={"fresh": True},
            )

    def _run(self, progress: Progress) -> None:
        """Draw what a finished run says besides: of other code, and of other subgraphs."""
        here = [each for each in progress.outcomes if each.task_id == self.task.id]
        if not self.is_current:
            other_code(progress.run.bundle_digest, self.task.id, self.judged)
        if self.judged is None:
            st.info(f"This run did not judge the selected subgraph. It judged {count(progress.done, 'other')}.")
        total = progress.total if len(progress.run.task_ids) == 1 else len(here)
        if here and total > 1:
            accepted = sum(each.verdict.accepted for each in here)
            with st.expander(f"{accepted} of {total} subgraphs accepted", icon=":material/dataset:", expanded=True):
                choose_outcome(here, key=f"outcomes-{progress.run.id}", choose=select_subgraph)
        place = {"task": self.task.id, "subgraph": self.subgraph.id}
        links.link("runs", "Permanent page of this run", icon=":material/link:", run=progress.run.id, **place)


def latest(task: Task, subgraph: Subgraph, draft: EditorDraft) -> BenchView:
    """Return what is known of the passes in the editor, after waiting a moment for a check of them."""
    progress = _progress(links.selected("run"))
    is_current = progress is not None and _is_of(progress.run, draft.bundle)
    judged = _judged_in(progress, task, subgraph)
    if draft.bundle.files and (progress is None or (progress.finished and not (is_current and judged))):
        # these passes may have been judged in a run that the URL does not name
        run_id = resources.service().judged_run(draft.bundle.digest, task.id, subgraph.digest)
        known = _progress_shown() if run_id is None else resources.service().progress(run_id)
        if known is not None and _is_of(known.run, draft.bundle) and (there := _judged_in(known, task, subgraph)):
            progress, is_current, judged = known, True, there
    if progress is not None and is_current and judged:
        st.session_state[SHOWN] = progress.run.id
    checked = None
    if draft.bundle.files and not (is_current and judged):
        with contextlib.suppress(QuotaExceeded):  # the pane says so, where it waits for the check
            checked = _checked(task, draft.bundle, subgraph.id, LIVE_S if live.checks_ahead() <= live.CALM else 0.0)
    return BenchView(task, subgraph, draft, progress, judged, is_current, checked)


def _progress_shown() -> Progress | None:
    if (run_id := st.session_state.get(SHOWN)) is not None:
        with contextlib.suppress(UnknownItem):  # it may have been deleted since
            return resources.service().progress(run_id)
    return None


def _is_of(run: Run, bundle: Bundle) -> bool:
    if run.bundle_digest in (None, bundle.digest):  # a run of a baseline has none
        return run.bundle_digest is not None
    with contextlib.suppress(UnknownItem):
        return _code_of(resources.service().bundle(run.bundle_digest)) == _code_of(bundle)
    return False


@functools.lru_cache(maxsize=CODE_KEPT)
def _code_of(bundle: Bundle) -> tuple[tuple[str, str], ...]:
    """The code of each file, without comments and layout; the whole text of one that Python cannot read."""
    return tuple((file.name, _without_comments(file.code)) for file in bundle.files)


def _without_comments(code: str) -> str:
    try:
        return ast.dump(syntax_tree(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


def _judged_in(progress: Progress | None, task: Task, subgraph: Subgraph) -> Outcome | None:
    at, outcomes = (task.id, subgraph.id), progress.outcomes if progress else ()
    return next((each for each in outcomes if (each.task_id, each.subgraph_id) == at), None)


def _progress(run_id: str | None) -> Progress | None:
    if run_id is None:
        return None
    try:
        found = resources.service().progress(run_id)
        if not found.finished and found.total == 1 and not found.queue_position:
            return resources.service().progress(run_id, within_s=AWAITED_S.get(found.run.spec.stage, 0.0))
        return found
    except UnknownItem as error:
        links.select("run", None)
        frame.report(error)
        return None


def _checked(task: Task, bundle: Bundle, subgraph_id: str, seconds: float) -> Outcome | None:
    return resources.service().check_within(task, bundle, spec_for(task, Stage.CHECK), subgraph_id, seconds)


def spec_for(task: Task, stage: Stage | None) -> EvalSpec:
    """Return how passes for a task are judged: by the visitor's settings, or as in every lesson. stage: None for the
    last one."""
    if resources.shared().course.of_task(task.id) is None:
        return spec_of(resources.service().device, stage)
    return replace(lesson_spec(), stage=stage) if stage else lesson_spec()


def await_check(task: Task, bundle: Bundle, subgraph_id: str) -> None:
    """Rerun the page once the check is known."""
    st.fragment(_await_check, run_every=live.poll_s(live.checks_ahead(), POLL_S))(task, bundle, subgraph_id)


def _await_check(task: Task, bundle: Bundle, subgraph_id: str) -> None:
    with frame.errors_shown():
        if _checked(task, bundle, subgraph_id, 0.0):
            st.rerun()
        st.caption(":material/autorenew: Checking…")


def verdict_bar(here: BenchView) -> None:
    """Draw the verdict in one line: screen readers announce it, and it stays in view on a phone."""
    with st.container(key="verdict-bar"):
        announce(_in_a_line(here))


def _in_a_line(here: BenchView) -> str:
    if here.is_running:
        return ":material/autorenew: Running…"
    if here.outcome is None:
        return ":material/autorenew: Checking…" if here.draft.bundle.files else "No passes yet"
    words = VERDICTS[here.outcome.verdict]
    return f":{words.tone}[:material/{words.icon}: **{plain(headline_words(here.outcome))}**]"


def other_code(digest: str | None, task_id: str, judged: Outcome | None) -> None:
    """Say that a result is not that of the code in the editor, and offer the code that it is of."""
    said = f": {headline_words(judged)}" if judged else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/edit_note: This result is for different code{plain(said)}.")
        if digest is not None:
            st.button("Load that code", icon=":material/history:", on_click=load_code, args=(task_id, digest))


@frame.action
def load_code(task_id: str, digest: str) -> None:
    drafting.open_stored(resources.shared().corpus.task(task_id), digest)


def select_subgraph(place: str) -> None:
    st.session_state["subgraph"] = place.partition("\n")[2]


@frame.action
def submit(
    task: Task,
    draft: EditorDraft,
    bundle: Bundle,
    stage: Stage | None,
    *,
    everything: bool = False,
    fresh: bool = False,
) -> None:
    """Have these passes judged on the selected subgraph, or on every subgraph of the task or lesson. fresh: even if the
    outcome is known."""
    editor.go_to_syntax_error(bundle)
    if stage is not Stage.CHECK:
        # a run takes a while, and its progress is there
        st.session_state[TAB] = VERDICT
    page, selected = place_of(task.id)
    # a task with one subgraph has no selector
    one = st.session_state.get("subgraph", task.subgraphs[0].id)
    chosen: Sequence[str] | None = None if everything or page == "learn" else [one]
    run_id = resources.service().submit(
        task,
        bundle,
        spec_for(task, stage),
        subgraph_ids=chosen,
        label=drafting.label(task, draft),
        fresh=fresh,
    )
    links.hand_over("run", run_id, page, *selected.values())
