"""The facade that pages and the command line call. It has jobs judged, and keeps their outcomes in the store."""

import atexit
import contextlib
import functools
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from passnet_core import outside
from passnet_core.bundles.reading import read_bundle
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import read_solved
from passnet_core.corpus.surveying import TaskMatches, surveyed
from passnet_core.errors import BadInput, PlaygroundError, StoreError, StoreRefusal, UnknownItem
from passnet_core.execution.backends.base import Backend, Capacity, DeviceInfo
from passnet_core.execution.backends.choosing import chosen_backend
from passnet_core.execution.backends.cluster.backend import RayBackend
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of, new_run, now, of_job
from passnet_core.execution.live_checks import LiveChecks
from passnet_core.execution.runs_in_progress import Progress, RunEnding, RunsInProgress
from passnet_core.execution.scheduler import NOBODY, Meter, Scheduler
from passnet_core.leaderboard.settling import RunState, settle
from passnet_core.leaderboard.submission_register import SubmissionRegister
from passnet_core.lessons.certifying import certificate_of
from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import lesson_spec
from passnet_core.lessons.lesson import TASK, Lesson
from passnet_core.lessons.progress import FinishedRun, GradedRun, handed_in, reached
from passnet_core.records import (
    REUSED,
    Baseline,
    Bundle,
    EvalSpec,
    Inspection,
    Job,
    Outcome,
    PassKernels,
    PassTrace,
    Phase,
    Run,
    SolverKind,
    Stage,
    Subgraph,
    Task,
    Verdict,
    digest_of,
    to_json,
)
from passnet_core.settings import Settings
from passnet_core.solvers.attempts import Judge, JudgeBench
from passnet_core.solvers.conversations import Conversations
from passnet_core.solvers.trajectories import read_trajectory
from passnet_core.store import exchange
from passnet_core.store import owner as store_owner
from passnet_core.store.base import FILE
from passnet_core.store.prepared import (
    keep_prepared,
    place_prepared,
    prepared_store,
    recorded_conversations,
    recorded_runs,
)
from passnet_core.store.rows import (
    BaselineRow,
    Certificate,
    Draft,
    RunNote,
    RunQuery,
    RunSummary,
    SavedDraft,
    Scored,
    ScoreRow,
    Standing,
    Unfinished,
    name_of,
)
from passnet_core.whole_models.searches import ModelSearches

if TYPE_CHECKING:  # numpy and DuckDB load only where scores and a store are asked for
    from passnet_core.leaderboard.boards import Board
    from passnet_core.leaderboard.example import Example
    from passnet_core.leaderboard.gallery import Exhibit
    from passnet_core.leaderboard.shared_boards import SharedBoards
    from passnet_core.store.base import Store

OnOutcome = Callable[[int, Outcome], None]
"""Called with an outcome's position in the run, from 0, and the outcome, once it is stored."""

LONGEST_NOTE = 2_000
"""How many characters a visitor's note on a run may have."""
LONGEST_HOLDER = 80
"""How many characters the name on a certificate may have."""
OWN_SLOT = "mine"
"""The slot of the drafts that a person writes from the beginning."""
MOST_RECENT = 20
MOST_ATTEMPTS = 2_000
"""How many of a person's newest runs are looked through for attempts at lessons."""
COUNTED_FOR_S = 5.0
"""How long a count of the runs that other processes judge is told."""
ROWS_KEPT = 20_000
"""Of how many runs of submissions the rows on boards are kept in memory."""
RECORDED_AT_ONCE = 60
"""How many recorded runs are imported per transaction: a transaction costs as much as importing ten runs."""


@dataclass(frozen=True)
class ReferenceBundle:
    """A bundle that comes with the playground. name: its folder. task_ids: the tasks for which it was written."""

    name: str
    title: str
    description: str
    task_ids: tuple[str, ...]
    bundle: Bundle


def open_service(
    settings: Settings, *, keep_warm: bool = False, backend: Backend | None = None, meter: Meter | None = None
) -> "Service":
    """Open the service on the settings' store and data. Without a backend, jobs run where the settings say.

    keep_warm: start judge processes before the first job needs them. meter: counts what is judged for whom, and limits
    it. Raises StoreError, BadInput, InfrastructureError."""
    from passnet_core.store.opening import open_store

    chosen = chosen_backend(settings, keep_warm=keep_warm)
    place_prepared(settings.home, settings.data)
    store = open_store(settings.home)
    with contextlib.ExitStack() as undoing:
        undoing.callback(store.close)
        service = Service(settings, store, backend or chosen, meter)
        undoing.pop_all()
    atexit.register(service.close)
    if keep_warm and backend is None:
        threading.Thread(target=_warm_up, args=(service, chosen), name="passnet-warm", daemon=True).start()
    return service


def prepare(settings: Settings) -> Path:
    """Make the store that a first start opens, unless it is there already, and return its file. Takes some seconds.

    Raises BadInput if what comes with the playground cannot be read, or if the folder of the data is not writable."""
    if (there := prepared_store(settings.data)).exists():
        return there
    with tempfile.TemporaryDirectory(prefix="passnet-prepare-") as folder:
        home = Path(folder)
        service = open_service(replace(settings, home=home))
        with contextlib.closing(service):
            if service.problems:
                raise BadInput(" ".join(service.problems))
        try:
            return keep_prepared(home / FILE, settings.data)
        except OSError as error:
            raise BadInput(
                f"The store cannot be kept in {settings.data}: {error.strerror}. Make it writable."
            ) from error


def _warm_up(service: "Service", backend: LocalBackend | RayBackend) -> None:
    # describing this machine takes a moment; have the answer ready
    backend.capacity()
    # loading torch several times would take the cores from whoever waits for the first page
    service.wait_until_imported()
    backend.prepare()
    # the first verdict asks which lesson explains it
    _ = service.course.lessons


class Service:
    """Everything that pages and commands can do. Safe to share between threads; call close() at the end."""

    def __init__(self, settings: Settings, store: "Store", backend: Backend, meter: Meter | None = None) -> None:
        self.settings = settings
        self.course = course_of(settings)
        self.corpus = self.course.corpus
        self._store = store
        self._scheduler = Scheduler(backend, meter=meter)
        self._live = LiveChecks(self._scheduler)
        self._runs = RunsInProgress(
            self._scheduler, store.append, lambda job: self._known(job) or self._live.known(job)
        )
        self._inspections = Inspections(self._scheduler)
        self._process = store_owner.this_process()
        self._counting, self._elsewhere, self._counted_until = threading.Lock(), 0, 0.0
        self._judging_lock, self._judging = threading.Lock(), set[str]()
        """The runs of this process that had not finished when somebody last asked."""
        self._admissions: dict[str, contextlib.AbstractContextManager[object]] = {}
        self._admissions_lock = threading.Lock()
        self._closing = threading.Event()
        self._device_known = threading.Event()
        self._device_asked = threading.Lock()
        self._references, self._reference_problems = read_references(settings.data / "bundles")
        self._recorded_problems: tuple[str, ...] = ()
        self._close_orphans(store.unfinished(None))
        self.conversations = Conversations(self, self._inspections, store)
        self.models = ModelSearches(settings, self, self._bundled)
        self._loading = threading.Thread(target=self._load_recorded, name="passnet-recorded", daemon=True)
        self._loading.start()

    # --- what is here ---

    @property
    def problems(self) -> tuple[str, ...]:
        """The tasks, bundles and recorded runs that could not be read, one sentence each. None is fatal."""
        self.wait_until_imported()
        return self.corpus.problems + self.course.problems + self._reference_problems + self._recorded_problems

    @property
    def importing_recorded(self) -> bool:
        """Whether recorded runs are still being imported, as for a new store. Until then runs and scores block."""
        return self._loading.is_alive()

    def wait_until_imported(self) -> None:
        """Wait until all recorded runs are imported."""
        self._loading.join()

    def device(self) -> DeviceInfo:
        """The device on which jobs run. The first time, this waits for an answer of the machine where they run."""
        info = self._scheduler.here
        self._device_known.set()
        return info

    def device_within(self, seconds: float) -> DeviceInfo | None:
        """The device on which jobs run; None if it is not known within so many seconds: ask again."""
        if self._device_asked.acquire(blocking=False):
            threading.Thread(target=self._ask_device, name="passnet-device", daemon=True).start()
        return self.device() if self._device_known.wait(seconds) else None

    def capacity(self) -> Capacity:
        """How much is judged at once, and kept warm for it."""
        return self._scheduler.capacity()

    def load(self, *, light: bool = False) -> int:
        """The number of jobs and questions that wait or are under way in this process. light: only those ahead of a
        check."""
        return self._scheduler.load(light=light)

    def loads(self) -> Mapping[str, int]:
        """The number of jobs and questions that wait or are under way in this process, by owner."""
        return self._scheduler.loads()

    def admission(self, owner: str) -> contextlib.AbstractContextManager[object]:
        """Held from asking how much of this owner's work waits until more of it is begun: of two that ask at the same
        time, the second sees what the first has begun."""
        with self._admissions_lock:
            return self._admissions.setdefault(owner, threading.RLock())

    def load_of(self, owner: str) -> int:
        """The number of jobs and questions of this owner that wait or are under way in this process."""
        return self._scheduler.load_of(owner)

    def reference_bundles(self) -> tuple[ReferenceBundle, ...]:
        return self._references

    def _bundled(self) -> Mapping[str, Bundle]:
        """The bundles that come with the playground: the references by name, those of the rules by task."""
        references = {each.name: each.bundle for each in self._references}
        return references | {
            name: each for name, each in _solved(self.settings.rules_file).items() if name not in references
        }

    # --- judging ---

    def submit(
        self,
        task: Task,
        bundle: Bundle | None,
        spec: EvalSpec,
        *,
        subgraph_ids: Sequence[str] | None = None,
        label: str = "",
        fresh: bool = False,
        owner: str = NOBODY,
        run_id: str = "",
    ) -> str:
        """Start a run in the background and return its id. Without a bundle, TorchInductor is judged.

        subgraph_ids: None for all. fresh: judge even jobs whose outcome is known. owner: whose run it is, who takes
        turns with others at the judge, and whose passes have no more time than the meter allows. run_id: that of
        new_run_id, if it has to be known before the run is stored. Raises UnknownItem if the task lacks a subgraph,
        StoreError if the run cannot be stored."""
        if self._closing.is_set():
            raise StoreRefusal("The playground is shutting down. Start it again, then start the run again.")
        jobs = jobs_of(task, bundle, self._bounded(spec, owner), subgraph_ids)
        run = new_run(jobs, label=label, run_id=run_id)
        if bundle is not None:
            self._store.add_bundle(bundle)
        self._store.start_run(run, tuple(name_of(job) for job in jobs), self._process, owner)
        self._runs.start(run, jobs, fresh=fresh, owner=owner)
        with self._judging_lock:
            self._judging.add(run.id)
        return run.id

    def _bounded(self, spec: EvalSpec, owner: str) -> EvalSpec:
        return replace(spec, deadline_s=min(spec.deadline_s, self._scheduler.meter.longest_s(owner, spec.stage)))

    def progress(self, run_id: str, *, within_s: float = 0.0) -> Progress:
        """How far a run has come, live or stored. within_s: wait so long for a run of this process that has not
        finished. Raises UnknownItem."""
        if (here := self._runs.find(run_id)) is not None:
            if within_s:
                here.wait(within_s)
            return self._runs.progress(here)
        run = self.run(run_id)
        # first what is open: what is judged meanwhile must not be missing from the outcomes of a finished run
        ending, working = self._runs.ending(run_id), self._judged_elsewhere(run_id)
        outcomes = self._store.outcomes(run_id)
        if ending is None:
            subgraph_id = working[0].jobs[0].subgraph_id if working else ""
            ending = RunEnding(Phase.START, subgraph_id, sum(outcome.wall_s for outcome in outcomes), "")
        return Progress(
            run=run,
            total=len(run.job_digests),
            done=len(outcomes),
            phase=ending.phase,
            subgraph_id=ending.subgraph_id,
            log_tail="",
            elapsed_s=ending.elapsed_s,
            queue_position=None,
            finished=not working,
            cancelled=any(outcome.verdict is Verdict.CANCELLED for outcome in outcomes),
            outcomes=outcomes,
            problem=ending.problem,
            elsewhere=bool(working),
        )

    def cancel(self, run_id: str) -> None:
        """Cancel a run of this process: its open jobs end as "cancelled". Raises UnknownItem, StoreRefusal."""
        if (here := self._runs.find(run_id)) is not None:
            here.cancelled.set()
        elif self._judged_elsewhere(run_id):
            raise StoreRefusal(f"Run {run_id!r} is being judged by another process. Cancel it there.")
        else:
            self.run(run_id)

    def wait(self, run_id: str, on_outcome: OnOutcome | None = None) -> tuple[Outcome, ...]:
        """Wait for a run of this process, and return its outcomes. on_outcome gets each outcome as it arrives.

        Raises UnknownItem, and StoreError if an outcome could not be stored."""
        here = self._runs.find(run_id)
        if here is None:
            self.run(run_id)
            ending = self._runs.ending(run_id)
            if ending is not None and ending.problem:
                raise StoreError(ending.problem)
            return self._store.outcomes(run_id)
        for position, outcome in here.arriving():
            if on_outcome is not None:
                on_outcome(position, outcome)
        here.wait()
        if here.failure is not None:
            raise here.failure
        return here.progress(None).outcomes

    def bench(self, task: Task, spec: EvalSpec, judge: Judge) -> JudgeBench:
        """A bench for somebody who works on a task with tools. judge: has its bundles judged."""
        return JudgeBench(task, spec, judge, self._inspections, self.device())

    def judge_apart(self, job: Job, cancelled: threading.Event) -> Outcome:
        """Judge a job that belongs to no run, and keep nothing of it."""
        return self._scheduler.judge(job, lambda event: None, cancelled)

    def check_within(
        self, task: Task, bundle: Bundle, spec: EvalSpec, subgraph_id: str, seconds: float, *, owner: str = NOBODY
    ) -> Outcome | None:
        """The outcome of a check of one subgraph if it is known within so many seconds, otherwise None: ask again.

        Stores nothing, and gives up what the owner asked before about this subgraph. Raises UnknownItem."""
        checking = self._bounded(replace(spec, stage=Stage.CHECK), owner)
        job = jobs_of(task, bundle, checking, [subgraph_id])[0]
        return self._live.within(job, owner, seconds)

    def survey(self, bundle: Bundle, task_ids: Sequence[str], *, owner: str = NOBODY) -> Iterator[TaskMatches]:
        """Yield in how many subgraphs of each task the bundle matches. Stores nothing. Raises like surveyed()."""
        return surveyed(self._scheduler, self.corpus, bundle, task_ids, self.device().device, owner)

    def inspection(self, subgraph: Subgraph, baseline: Baseline = Baseline.INDUCTOR) -> Inspection | None:
        """The inspection with the baseline's code if it is known; otherwise None, and it is made in the background.
        Raises its error, once."""
        return self._inspections.known(subgraph, self.device().device, baseline=baseline)

    def kernels(self, subgraph: Subgraph, bundle: Bundle, *, owner: str = NOBODY) -> PassKernels | None:
        """What Triton compiles for the kernels that a bundle launches on a subgraph; None until it is known."""
        return self._inspections.kernels(subgraph, bundle, self.device().device, owner)

    def programs(self, subgraph: Subgraph, bundle: Bundle, *, owner: str = NOBODY) -> PassTrace | None:
        """What the programs of the kernels access that a bundle launches on a subgraph; None until it is known."""
        return self._inspections.programs(subgraph, bundle, owner)

    def inspect_within(
        self, subgraphs: Sequence[Subgraph], seconds: float, cancelled: threading.Event
    ) -> Mapping[str, Inspection]:
        """The inspections that are ready within so many seconds, by subgraph id, without code."""
        return self._inspections.within(subgraphs, self.device().device, seconds, cancelled)

    def evaluate(
        self,
        task: Task,
        bundle: Bundle | None,
        spec: EvalSpec,
        on_outcome: OnOutcome | None = None,
        *,
        subgraph_ids: Sequence[str] | None = None,
        label: str = "",
        fresh: bool = False,
        owner: str = NOBODY,
        on_run: Callable[[str], None] | None = None,
    ) -> tuple[Outcome, ...]:
        """Submit a run, and wait for its outcomes. on_run gets the run's id first. An interrupt cancels the run."""
        run_id = self.submit(task, bundle, spec, subgraph_ids=subgraph_ids, label=label, fresh=fresh, owner=owner)
        with contextlib.ExitStack() as undoing:
            undoing.callback(self.cancel, run_id)
            if on_run is not None:
                on_run(run_id)
            outcomes = self.wait(run_id, on_outcome)
            undoing.pop_all()
        return outcomes

    # --- what was judged ---

    def run(self, run_id: str) -> Run:
        """A run, live or stored. Raises UnknownItem."""
        if (here := self._runs.find(run_id)) is not None:
            return here.run
        run = self._store.run(run_id)
        if run is None:
            self.wait_until_imported()
            run = self._store.run(run_id)
        if run is None:
            raise UnknownItem(
                f"There is no run {outside.quoted(run_id)} here. List the runs with: python -m passnet_core runs list"
            )
        return run

    def runs(
        self,
        limit: int = 200,
        task_id: str | None = None,
        solver: SolverKind | None = None,
        *,
        checks: bool = False,
        visitor: str | None = None,
        verdicts: Sequence[Verdict] = (),
        starred_by: str | None = None,
        viewer: str | None = None,
        offset: int = 0,
        after: str | None = None,
    ) -> tuple[RunSummary, ...]:
        """The newest runs first. The arguments are those of RunQuery. A visitor's own runs do not wait until recorded
        runs are imported."""
        if visitor is None:
            self.wait_until_imported()
        return self._runs_of(
            RunQuery(limit, task_id, solver, checks, visitor, tuple(verdicts), starred_by, viewer, offset, after)
        )

    def count_runs(self, task_id: str | None, *, visitor: str | None = None, viewer: str | None = None) -> int:
        """How many runs there are, without checks. The arguments are those of RunQuery."""
        self.wait_until_imported()
        return self._store.count_runs(RunQuery(0, task_id, visitor=visitor, viewer=viewer))

    def _runs_of(self, asked: RunQuery) -> tuple[RunSummary, ...]:
        """The runs, after those that an ended process has left have got their outcomes."""
        found = self._store.runs(asked)
        if any(map(self._is_open_elsewhere, found)) and self._close_orphans(self._store.unfinished(None)):
            found = self._store.runs(asked)
        return found

    def _is_open_elsewhere(self, summary: RunSummary) -> bool:
        """Whether a run lacks outcomes, and this process neither judges it nor has ended it."""
        run_id = summary.run.id
        return summary.done < summary.total and self._runs.find(run_id) is None and self._runs.ending(run_id) is None

    def visitor_of(self, run_id: str) -> str:
        """Who asked for a run; "" for commands, and for what was recorded or imported. Raises UnknownItem."""
        self.run(run_id)
        return self._store.visitor_of(run_id)

    def under_way(self) -> int:
        """How many runs are unfinished: those of this process, and those of the latest 20 that other processes judge,
        as that was some seconds ago. Does not wait for recorded runs, which are all finished."""
        return self._unfinished_here() + self._unfinished_elsewhere()

    def _unfinished_here(self) -> int:
        with self._judging_lock:
            found = {run_id: self._runs.find(run_id) for run_id in self._judging}
            self._judging = {run_id for run_id, each in found.items() if each is not None and not each.finished}
            return len(self._judging)

    def _unfinished_elsewhere(self) -> int:
        # every page asks, so one of them looks and the others take what was seen last
        if time.monotonic() >= self._counted_until and self._counting.acquire(blocking=False):
            try:
                self._counted_until = time.monotonic() + COUNTED_FOR_S
                self._elsewhere = sum(map(self._is_open_elsewhere, self._runs_of(RunQuery(20, checks=True))))
            finally:
                self._counting.release()
        return self._elsewhere

    def outcomes(self, run_id: str, *, as_they_came: bool = False) -> tuple[Outcome, ...]:
        """The outcomes of a run so far, in the order of the jobs, or in that in which they came: what comes later is at
        the end then. Raises UnknownItem."""
        self.run(run_id)
        return self._store.outcomes_as_they_came(run_id) if as_they_came else self._store.outcomes(run_id)

    def judged_run(
        self, bundle_digest: str, task_id: str, subgraph_digest: str, viewer: str | None = None
    ) -> str | None:
        """The id of the run that says most of this bundle on this subgraph, beyond what a check says; None: no run
        does, or the recorded ones are still being imported. viewer: as in RunQuery."""
        return self._store.judged_run(bundle_digest, task_id, subgraph_digest, viewer)

    def bundle(self, digest: str) -> Bundle:
        """A stored bundle. Raises UnknownItem."""
        bundle = self._store.bundle(digest)
        if bundle is None:
            self.wait_until_imported()
            bundle = self._store.bundle(digest)
        if bundle is None:
            raise UnknownItem(f"There is no bundle {digest!r} here. Open it from a run that lists it.")
        return bundle

    def sees_bundle(self, digest: str, viewer: str) -> bool:
        """Whether there is a run with this bundle that is this visitor's, or nobody's."""
        return self._store.sees_bundle(digest, viewer)

    def add_bundle(self, bundle: Bundle) -> None:
        """Store a bundle that need not have been judged, so that bundle() finds it."""
        self._store.add_bundle(bundle)

    def has_measured(self, visitor: str) -> bool:
        """Whether a run of this person has an outcome of stage MEASURE."""
        return self._store.has_measured(visitor)

    def revision(self, viewer: str | None = None) -> int:
        """A number that changes whenever boards, baseline rows or standings may change. viewer: as in RunQuery."""
        self.wait_until_imported()
        return self._store.revision(viewer) + self.submitted.revision()

    def score_rows(self, task_id: str | None = None, viewer: str | None = None) -> tuple[ScoreRow, ...]:
        """The newest sample per solver, subgraph and conditions, from which scores are computed; an aborted outcome
        where there is no sample. viewer: as in RunQuery."""
        self.wait_until_imported()
        return self._store.score_rows(task_id, viewer)

    def boards(
        self, task_id: str | None = None, *, aborts_fail: bool = False, viewer: str | None = None
    ) -> "tuple[Board, ...]":
        """The leaderboards of one task or of all. Only comparable results are ranked together. Of submissions, those
        that are on the board are ranked, each as one solver.

        aborts_fail: count what PassNet's protocol aborted as a runtime failure, instead of leaving it out. viewer: as
        in RunQuery."""
        self.wait_until_imported()
        scored = self._store.scored(viewer)
        if not scored.own:
            viewer = ""  # sees what everybody sees
        stamp = (scored, self.submitted.revision(), self.corpus.revision)
        return self._shared_boards.views.of(
            (viewer, task_id, aborts_fail), stamp, lambda: self._boards_for(viewer, task_id, aborts_fail, scored)
        )

    def _boards_for(
        self, viewer: str | None, task_id: str | None, aborts_fail: bool, scored: Scored
    ) -> "tuple[Board, ...]":
        from passnet_core.leaderboard.shared_boards import by_solver, merged
        from passnet_core.leaderboard.submission_ranks import boards_with_submissions

        entries = self.submitted.entries()
        judged_for_them = tuple(run_id for each in entries for run_id in each.run_ids)
        rows = self._shared_boards.nobodys_rows.of(
            "", (scored.nobodys, judged_for_them), lambda: by_solver(self._store.score_rows(None, "", judged_for_them))
        )
        if scored.own:
            rows = merged(rows, self._store.score_rows(task_id, viewer, judged_for_them, True))
        return boards_with_submissions(
            [row for row in rows.values() if task_id in (None, row.task_id)],
            entries,
            self._scored_rows,
            task_id=task_id,
            names={each.bundle.digest: each.title for each in self._references},
            totals={each.id: each.subgraphs for each in self.corpus.tasks()},
            aborts_fail=aborts_fail,
            # few rows are quicker computed than found
            of_ground=self._shared_boards.of_ground if task_id is None else None,
        )

    @functools.cached_property
    def _shared_boards(self) -> "SharedBoards":
        from passnet_core.leaderboard.shared_boards import SharedBoards

        return SharedBoards()

    @functools.cached_property
    def submitted(self) -> SubmissionRegister:
        """The register of submissions to the leaderboard."""
        return SubmissionRegister(self.settings.home)

    def settle_submissions(self) -> tuple[str, ...]:
        """Keep what the judge found in submissions whose runs have finished. Returns the ids of those that it has taken
        back."""
        return settle(self.submitted, self._run_state, now())

    @functools.cached_property
    def _scored_rows(self) -> Callable[[str], Sequence[ScoreRow]]:
        """The scored outcomes of a run that has finished, and so never changes."""
        from passnet_core.leaderboard.submission_ranks import rows_of

        return functools.lru_cache(maxsize=ROWS_KEPT)(lambda run_id: rows_of(self._store.outcomes(run_id), run_id))

    def _run_state(self, run_id: str) -> RunState:
        try:
            found = self.progress(run_id)
        except UnknownItem:
            return RunState(True, 1, (), "A run of this submission is gone from the store.")
        return RunState(found.finished, found.total, found.outcomes, found.problem)

    def baseline_rows(self, viewer: str | None = None) -> tuple[BaselineRow, ...]:
        """TorchInductor's measured results against eager, for every device and capture. viewer: as in RunQuery."""
        self.wait_until_imported()
        return self._store.baseline_rows(viewer)

    def standings(self, viewer: str | None = None) -> tuple[Standing, ...]:
        """For every judged subgraph: attempts, eager's time, Inductor's speedup, the best speedup and whose it is.
        viewer: as in RunQuery."""
        self.wait_until_imported()
        return self._store.standings(viewer)

    def example(self) -> "Example | None":
        """The example for the first page, or None. Read from the recorded runs' files, the smallest first, so that
        nobody waits until all of them are imported."""
        from passnet_core.leaderboard.example import example_of

        here = {task.id for task in self.corpus.tasks()}
        bundles = [each.bundle for each in self._references if here.intersection(each.task_ids)]
        for path in sorted(recorded_runs(self.settings.data), key=lambda path: path.stat().st_size):
            with contextlib.suppress(BadInput):  # problems has a sentence about it
                if found := example_of(exchange.read_file(path)[1], bundles):
                    return found
        return None

    def gallery(self, viewer: str | None = None) -> "tuple[Exhibit, ...]":
        """The best bundles that the rules wrote, of every family, with their recorded outcomes. Raises BadInput if the
        file of bundles is missing or damaged. viewer: as in RunQuery."""
        from passnet_core.leaderboard.gallery import chosen, with_outcomes

        bundles = _solved(self.settings.rules_file)
        return with_outcomes(chosen(bundles, self.corpus.tasks(), self.score_rows(viewer=viewer)), self.outcomes)

    def export_run(self, run_id: str) -> str:
        """The run as the text of a JSONL file. Raises UnknownItem, and StoreRefusal while it is unfinished."""
        run = self.run(run_id)
        outcomes = self._store.outcomes(run_id)
        if len(outcomes) != len(run.job_digests):
            raise StoreRefusal(
                f"Run {run_id!r} has {len(outcomes)} of {len(run.job_digests)} outcomes. "
                "Export it once it has finished."
            )
        bundles = () if run.bundle_digest is None else (self.bundle(run.bundle_digest),)
        return exchange.written(exchange.RunFile(run, bundles, outcomes))

    def import_run(self, text: str) -> str:
        """Import an exported run, marked as recorded elsewhere, and return its id. Imports all of it or nothing.

        Raises BadInput, which names the line, and StoreRefusal if another run has that id."""
        files = tuple(exchange.read(text.splitlines()))
        if len(files) != 1:
            raise BadInput(f"A run file must hold one run; this one holds {len(files)}. Write one file per run.")
        file = files[0]
        if not file.run.recorded:
            file = replace(file, run=replace(file.run, recorded=exchange.origin(file)))
        self._store.import_runs("", (file,))
        return file.run.id

    # --- the course ---

    def attempts(self, visitor: str) -> Mapping[str, GradedRun]:
        """The attempt of a person that counts for each lesson, by the lesson's id."""
        runs = self._store.runs(RunQuery(MOST_ATTEMPTS, visitor=visitor))
        finished = [
            FinishedRun(each.run, each.accepted == each.total) for each in reversed(runs) if each.done == each.total
        ]
        return reached(self.course, finished, self._store.outcomes)

    def has_attempts(self, visitor: str) -> bool:
        """Whether a person has a run of a lesson among the newest runs. Reads no lesson."""
        runs = self._store.runs(RunQuery(MOST_RECENT, visitor=visitor))
        return any(each.startswith(TASK) for run in runs for each in run.run.task_ids)

    def certify(self, visitor: str, holder: str) -> Certificate:
        """Issue a certificate of all lessons, to be shown to anybody by its id. holder: who it is for, in their own
        words. Raises BadInput if a lesson is not passed, or if there is no name or too long a one."""
        holder = " ".join(holder.split())
        if not 0 < len(holder) <= LONGEST_HOLDER:
            raise BadInput(f"A certificate needs a name of at most {LONGEST_HOLDER} characters. Type one.")
        certificate = certificate_of(holder, self.course, self.attempts(visitor), self._store.outcomes)
        self._store.add_certificate(certificate)
        return certificate

    def certificate(self, certificate_id: str) -> Certificate:
        """A certificate that was issued here. Raises UnknownItem."""
        found = self._store.certificate(certificate_id)
        if found is None:
            raise UnknownItem(f"There is no certificate {certificate_id!r} here. Ask its holder for the link.")
        return found

    def judge_lesson(self, lesson: Lesson, bundle: Bundle, *, fresh: bool = False, owner: str = NOBODY) -> str:
        """Start the run that grades these passes in a lesson, and return its id. fresh: even if it is known."""
        return self.submit(lesson.task, bundle, lesson_spec(), label=lesson.id, fresh=fresh, owner=owner)

    def time_lesson(self, lesson: Lesson, bundle: Bundle, *, owner: str = NOBODY) -> str:
        """Start a run that times these passes on the GPU, on the subgraph from which the lesson's is, and return its
        id."""
        task = self.corpus.task(lesson.source_task)
        spec = EvalSpec(stage=Stage.MEASURE, device=self.device().device)
        ids = [lesson.source_subgraph]
        return self.submit(task, bundle, spec, subgraph_ids=ids, label=lesson.id, owner=owner)

    def export_course(self, visitor: str) -> str:
        """The attempts of a person that count, as the text of a run file."""
        return "".join(self.export_run(each.run.id) for each in self.attempts(visitor).values())

    def import_course(self, visitor: str, text: str) -> int:
        """Open the passes of an exported course as this person's, and have them graded again. Returns in how many
        lessons. All of the file is read before anything is changed. Raises BadInput that names the line."""
        found = [(lesson, file.bundles[0]) for lesson, file in handed_in(self.course, text)]
        if not found:
            raise BadInput("This file has no passes of a lesson. Choose a file that was exported from Learn.")
        for lesson, bundle in found:
            before = self.draft(visitor, lesson.task.id, OWN_SLOT)
            self.save_draft(visitor, lesson.task.id, OWN_SLOT, bundle, before.place if before else None)
            self.judge_lesson(lesson, bundle, owner=visitor)
        return len(found)

    # --- notes ---

    def note_run(self, visitor: str, run_id: str, note: str) -> None:
        """Keep a person's note on a run, in place of an older one; an empty one removes it. Raises UnknownItem, and
        BadInput if it is longer than LONGEST_NOTE."""
        self.run(run_id)
        if len(note) > LONGEST_NOTE:
            raise BadInput(
                f"The note has {len(note):,} characters, but at most {LONGEST_NOTE:,} are kept, so it was not saved. "
                "Shorten it."
            )
        self._store.note_run(visitor, run_id, note.strip())

    def star_run(self, visitor: str, run_id: str, starred: bool) -> None:
        """Star a run for a person, or take the star away. Raises UnknownItem."""
        self.run(run_id)
        self._store.star_run(visitor, run_id, starred)

    def run_note(self, visitor: str, run_id: str) -> RunNote:
        """What a person keeps about a run."""
        found = self._store.run_notes(visitor, run_id)
        return found[0] if found else RunNote(run_id)

    def run_notes(self, visitor: str) -> Mapping[str, RunNote]:
        """What a person keeps about runs, by their ids."""
        return {each.run_id: each for each in self._store.run_notes(visitor, None)}

    # --- drafts ---

    def save_draft(self, visitor: str, task_id: str, slot: str, bundle: Bundle, after: int | None) -> int | None:
        """Save what a person has written, and return the draft's place. after: the place of the draft that it was
        written on, None if there was none. Saves nothing and returns None if another one was saved since."""
        return self._store.save_draft(visitor, task_id, slot, bundle, after)

    def draft(self, visitor: str, task_id: str, slot: str, place: int | None = None) -> SavedDraft | None:
        """A person's draft of this slot: the newest, or the one at this place."""
        return self._store.draft(visitor, task_id, slot, place)

    def drafts(self, visitor: str) -> tuple[Draft, ...]:
        """A person's drafts, newest first."""
        return self._store.drafts(visitor)

    def kept_bytes(self, visitor: str, digests: tuple[str, ...] = ()) -> int:
        """How many bytes a person's drafts and outcomes have, with these bundles and those of the person's runs."""
        return self._store.kept_bytes(visitor, digests)

    def adopt_drafts(self, visitor: str) -> None:
        """Give a person the drafts that were saved before drafts belonged to anybody."""
        self._store.adopt_drafts(visitor)

    def close(self) -> None:
        """Cancel all runs, end the judge's processes and release the store. May be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._inspections.close()
        self._live.close()
        atexit.unregister(self.close)
        self.conversations.close()
        self.models.cancel_all()
        self._runs.cancel_all()
        self._scheduler.close()
        self.wait_until_imported()
        self._store.close()
        if "submitted" in vars(self):
            self.submitted.close()

    # --- inside ---

    def _ask_device(self) -> None:
        with contextlib.suppress(PlaygroundError):  # whoever calls device() gets the error
            self.device()
        self._device_known.set()

    def _known(self, job: Job) -> Outcome | None:
        """The stored outcome of an equal job in the current environment, with this job's task and subgraph ids."""
        info = self.device()
        if info.environment is None or info.device is not job.spec.device:
            return None
        known = self._store.known(job.digest, info.environment.digest)
        return of_job(known, job) if known is not None and known.verdict in REUSED else None

    def _judged_elsewhere(self, run_id: str) -> tuple[Unfinished, ...]:
        """What is open of a run that another process judges, which may have ended: then its jobs get their outcome."""
        if self._runs.ending(run_id) is not None:
            return ()
        unfinished = self._store.unfinished(run_id)
        return () if self._close_orphans(unfinished) else unfinished

    def _close_orphans(self, unfinished: Sequence[Unfinished]) -> bool:
        """Give the jobs of processes that have ended their outcome. Returns whether there were any."""
        orphans = [each for each in unfinished if not store_owner.alive(each.owner)]
        for left in orphans:
            for position, job in zip(left.positions, left.jobs):
                outcome = Outcome(
                    **asdict(job),
                    solver=left.run.solver,
                    bundle_digest=left.run.bundle_digest,
                    spec=left.run.spec,
                    verdict=Verdict.INFRASTRUCTURE,
                    reason="The playground ended before this job was judged. Run it again.",
                    environment=None,
                    wall_s=0.0,
                    finished_at=now(),
                )
                self._store.append(left.run.id, position, outcome)
        return bool(orphans)

    def _load_recorded(self) -> None:
        """Import the conversations and the recorded runs that come with the playground, each file once."""
        problems = []
        known = set(self._store.recorded_files())
        # there are few of them, and whoever opens a page first can see them while the runs are imported
        for path in recorded_conversations(self.settings.data):
            try:
                found = read_trajectory(path)
                digest = digest_of(to_json(found))
                if digest not in known:
                    self._store.import_trajectory(digest, found)
            except PlaygroundError as error:
                problems.append(f"The recorded conversation in {path.name} is left out: {error}")
        for path in recorded_runs(self.settings.data):
            try:
                digest, files = exchange.read_file(path, known)
                for start in range(0, len(files), RECORDED_AT_ONCE):
                    # not all at once, so that others can write in between; runs that are here already are skipped
                    self._store.import_runs("", tuple(files[start : start + RECORDED_AT_ONCE]))
                if digest not in known:
                    self._store.import_runs(digest, ())
            except PlaygroundError as error:
                problems.append(f"The recorded runs in {path.name} are left out: {error}")
        self._recorded_problems = tuple(problems)


@functools.lru_cache(maxsize=1)
def _solved(path: Path) -> Mapping[str, Bundle]:
    return read_solved(path)


def course_of(settings: Settings, more: Sequence[Path] = ()) -> Course:
    """The bundled lessons and a teacher's own, with the bundled and the imported tasks. more: further folders of tasks.
    Raises UnknownItem if there is no such folder."""
    for folder in more:
        if not outside.is_folder(folder):
            raise UnknownItem(f"There is no folder {folder} with tasks.")
    corpus = Corpus([settings.data / "tasks", settings.home / "tasks", *more])
    return Course([settings.data / "lessons", settings.home / "lessons"], corpus)


def corpus_of(settings: Settings, more: Sequence[Path] = ()) -> Corpus:
    """The bundled and the imported tasks, and those of the lessons. more: further folders of tasks. Raises UnknownItem
    if there is no such folder."""
    return course_of(settings, more).corpus


def read_references(folder: Path) -> tuple[tuple[ReferenceBundle, ...], tuple[str, ...]]:
    """The reference bundles in a folder, ordered by name, and a sentence for each that could not be read."""
    references, problems = [], []
    for place in sorted(folder.glob("*/about.json")):
        try:
            references.append(_reference(place.parent))
        except BadInput as error:
            problems.append(f"Reference bundle {place.parent.name!r} is left out: {error}")
    return tuple(references), tuple(problems)


def _reference(folder: Path) -> ReferenceBundle:
    try:
        about = outside.from_json_text(outside.file_bytes(folder / "about.json"))
        title, description, task_ids = str(about["title"]), str(about["description"]), tuple(map(str, about["tasks"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"about.json must have title, description and tasks ({error!r}).") from error
    return ReferenceBundle(folder.name, title, description, task_ids, read_bundle(folder, author="reference"))
