"""What the pages and the command line call: jobs, known already or judged by a backend, kept in the store."""

import atexit
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from passnet_core.bundles.reading import read_bundle
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.surveying import TaskMatches, surveyed
from passnet_core.errors import BadInput, PlaygroundError, StoreRefusal, UnknownItem
from passnet_core.execution.backends.base import Backend, DeviceInfo
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of, new_run, now
from passnet_core.execution.runs_in_progress import Progress, RunsInProgress
from passnet_core.execution.scheduler import NOBODY, Scheduler
from passnet_core.records import (
    REUSED,
    Bundle,
    Device,
    EvalSpec,
    Inspection,
    Job,
    Outcome,
    PassKernels,
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
from passnet_core.records.trajectories import read_trajectory
from passnet_core.settings import Settings
from passnet_core.solvers.conversations import Conversations
from passnet_core.store import exchange
from passnet_core.store import owner as store_owner
from passnet_core.store.rows import BaselineRow, Draft, RunSummary, ScoreRow, Standing, name_of

if TYPE_CHECKING:  # numpy and DuckDB load only where scores and a store are asked for
    from passnet_core.leaderboard.boards import Board
    from passnet_core.scoring.scores import SampleTable
    from passnet_core.store.base import Store

OnOutcome = Callable[[int, Outcome], None]
"""Called with the place in the run, from 0, and the outcome, after it is stored."""

RECORDED_AT_ONCE = 20


@dataclass(frozen=True)
class ReferenceBundle:
    """A bundle that comes with the playground."""

    name: str
    title: str
    description: str
    task_ids: tuple[str, ...]
    bundle: Bundle


def open_service(settings: Settings, *, keep_warm: bool = False, backend: Backend | None = None) -> "Service":
    """The service over the settings' store and data; without a backend, jobs run on this machine.

    keep_warm: start judge processes before the first job needs them. Raises StoreError, BadInput.
    """
    from passnet_core.store.opening import open_store

    here = LocalBackend(settings.python, settings.isolation, settings.home, keep_warm=keep_warm)
    store = open_store(settings.home)
    with contextlib.ExitStack() as undoing:
        undoing.callback(store.close)
        service = Service(settings, store, backend or here)
        undoing.pop_all()
    atexit.register(service.close)
    if keep_warm and backend is None:
        threading.Thread(target=_warm_up, args=(service, here), name="passnet-warm", daemon=True).start()
    return service


def _warm_up(service: "Service", backend: LocalBackend) -> None:
    # finding out what this machine is takes a moment that nobody need wait for
    backend.capacity()
    # loading torch several times over would take the cores from who waits for the first page
    service.wait_until_taken_in()
    backend.prepare()


class Service:
    """All that a person can ask for. Safe to share by threads; close() it at the end."""

    def __init__(self, settings: Settings, store: "Store", backend: Backend) -> None:
        self.settings = settings
        self.corpus = corpus_of(settings)
        self._store = store
        self._scheduler = Scheduler(backend)
        self._runs = RunsInProgress(self._scheduler, store.append, self._known)
        self._inspections = Inspections(self._scheduler)
        self._process = store_owner.this_process()
        self._closing = threading.Event()
        self._references, self._reference_problems = read_references(settings.data / "bundles")
        self._recorded_problems: tuple[str, ...] = ()
        self._close_orphans()
        self.conversations = Conversations(self, self._inspections, store)
        self._loading = threading.Thread(target=self._load_recorded, name="passnet-recorded", daemon=True)
        self._loading.start()

    # --- what is here ---

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read of the tasks, bundles and recorded runs, one sentence each; nothing of it is fatal."""
        self.wait_until_taken_in()
        return self.corpus.problems + self._reference_problems + self._recorded_problems

    @property
    def taking_in(self) -> bool:
        """Whether the recorded runs are still being taken in, once for a new store: whoever asks for runs, scores or
        problems has to wait until then."""
        return self._loading.is_alive()

    def wait_until_taken_in(self) -> None:
        """Returns when all recorded runs are here."""
        self._loading.join()

    def device(self) -> DeviceInfo:
        """Where jobs run."""
        return self._scheduler.here

    def reference_bundles(self) -> tuple[ReferenceBundle, ...]:
        return self._references

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
    ) -> str:
        """Starts a run in the background and returns its id; without a bundle the solver is Inductor.

        subgraph_ids None: all of the task's. fresh: judge anew even where the answer is known. owner: who takes turns
        with others at the judge. Raises UnknownItem for a subgraph that the task has not, StoreError where the run
        cannot be kept.
        """
        if self._closing.is_set():
            raise StoreRefusal("The playground is shutting down. Start it again, then run this once more.")
        jobs = jobs_of(task, bundle, spec, subgraph_ids)
        run = new_run(jobs, label=label)
        if bundle is not None:
            self._store.add_bundle(bundle)
        self._store.start_run(run, tuple(name_of(job) for job in jobs), self._process)
        self._runs.start(run, jobs, fresh=fresh, owner=owner)
        return run.id

    def progress(self, run_id: str) -> Progress:
        """How far a run is, live or kept. Raises UnknownItem."""
        if (here := self._runs.find(run_id)) is not None:
            return self._runs.progress(here)
        run = self.run(run_id)
        outcomes = self._store.outcomes(run_id)
        # another process of this store may be judging it
        working = self._store.unfinished(run_id)
        elsewhere = any(store_owner.alive(each.owner) for each in working)
        return Progress(
            run=run,
            total=len(run.job_digests),
            done=len(outcomes),
            phase=Phase.START,
            subgraph_id=working[0].jobs[0].subgraph_id if elsewhere else "",
            log_tail="",
            elapsed_s=sum(outcome.wall_s for outcome in outcomes),
            queue_position=None,
            finished=not elsewhere,
            cancelled=any(outcome.verdict is Verdict.CANCELLED for outcome in outcomes),
            outcomes=outcomes,
            problem="" if elsewhere or not working else "The process that judged this run ended before its last job.",
            elsewhere=elsewhere,
        )

    def cancel(self, run_id: str) -> None:
        """Ends a run of this process: each job still without an outcome gets "cancelled". Raises UnknownItem."""
        if (here := self._runs.find(run_id)) is not None:
            here.cancelled.set()
        elif self._store.unfinished(run_id):
            raise StoreRefusal(f"Run {run_id!r} is judged by another process. Cancel it there.")
        else:
            self.run(run_id)

    def wait(self, run_id: str, on_outcome: OnOutcome | None = None) -> tuple[Outcome, ...]:
        """The outcomes of a run of this process, once it has finished; on_outcome sees each as it comes.

        Raises UnknownItem, and StoreError where an outcome could not be kept.
        """
        here = self._runs.find(run_id)
        if here is None:
            self.run(run_id)
            return self._store.outcomes(run_id)
        for position, outcome in here.arriving():
            if on_outcome is not None:
                on_outcome(position, outcome)
        here.wait()
        if here.failure is not None:
            raise here.failure
        return here.progress(None).outcomes

    def check(self, task: Task, bundle: Bundle, subgraph_id: str, *, device: Device | None = None) -> Outcome:
        """Static rules and matching on one subgraph, now."""
        spec = EvalSpec(stage=Stage.CHECK, device=device or self.device().device)
        known = self._known(jobs_of(task, bundle, spec, [subgraph_id])[0])
        return known or self.evaluate(task, bundle, spec, subgraph_ids=[subgraph_id], fresh=True)[0]

    def survey(self, bundle: Bundle, task_ids: Sequence[str]) -> Iterator[TaskMatches]:
        """In how many subgraphs of each of these tasks the bundle matches, one after the other. Nothing of it is kept.
        Raises BadInput where the bundle cannot be loaded, InfrastructureError where nothing judges."""
        return surveyed(self._scheduler, self.corpus, bundle, task_ids, self.device().device)

    def inspect(
        self, subgraph: Subgraph, *, with_code: bool = True, cancelled: threading.Event | None = None
    ) -> Inspection:
        """What the nodes of a subgraph give where jobs run, and TorchInductor's code for it. Takes seconds the first
        time, and waits for the job under way; it is remembered.

        Raises BadInput for a subgraph that cannot be run, InfrastructureError where nobody can say, or when cancelled.
        """
        return self._inspections.of(subgraph, self.device().device, with_code=with_code, cancelled=cancelled)

    def inspection(self, subgraph: Subgraph) -> Inspection | None:
        """The same, as far as it is known; None: it is being found out. Raises, once, what that failed with."""
        return self._inspections.known(subgraph, self.device().device)

    def kernels(self, subgraph: Subgraph, bundle: Bundle) -> PassKernels | None:
        """What Triton makes of the kernels that a bundle launches on a subgraph, in the same way."""
        return self._inspections.kernels(subgraph, bundle, self.device().device)

    def inspect_within(
        self, subgraphs: Sequence[Subgraph], seconds: float, cancelled: threading.Event
    ) -> Mapping[str, Inspection]:
        """By subgraph id, what is known of these after so many seconds, without code."""
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
        """Like submit, but waits for the outcomes; on_run is told the run's id first. An interrupt cancels the run."""
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
        """Raises UnknownItem."""
        if (here := self._runs.find(run_id)) is not None:
            return here.run
        run = self._store.run(run_id)
        if run is None:
            self.wait_until_taken_in()
            run = self._store.run(run_id)
        if run is None:
            raise UnknownItem(f"There is no run {run_id!r} here. See them with: python -m passnet_core runs list")
        return run

    def runs(
        self, limit: int = 200, task_id: str | None = None, solver: SolverKind | None = None, *, checks: bool = False
    ) -> tuple[RunSummary, ...]:
        """Newest first. checks: also the runs that only checked."""
        self.wait_until_taken_in()
        return self._store.runs(limit, task_id, solver, checks)

    def under_way(self) -> int:
        """How many of the latest runs are not finished. Recorded ones always are: they are not waited for."""
        return sum(each.done < each.total for each in self._store.runs(20, None, None, True))

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """In the order of the jobs; fewer than jobs while the run lasts. Raises UnknownItem."""
        self.run(run_id)
        return self._store.outcomes(run_id)

    def bundle(self, digest: str) -> Bundle:
        """Raises UnknownItem."""
        bundle = self._store.bundle(digest)
        if bundle is None:
            self.wait_until_taken_in()
            bundle = self._store.bundle(digest)
        if bundle is None:
            raise UnknownItem(f"There is no bundle {digest!r} here. Open it from a run that lists it.")
        return bundle

    def revision(self) -> int:
        """Equal as long as boards, baseline rows and standings stay as they are."""
        self.wait_until_taken_in()
        return self._store.revision()

    def score_rows(self, task_id: str | None = None) -> tuple[ScoreRow, ...]:
        """What scores are made of: the newest sample per solver, subgraph, device, capture and profile."""
        self.wait_until_taken_in()
        return self._store.score_rows(task_id)

    def samples(self, run_id: str | None = None) -> "SampleTable":
        """The scored outcomes of one run, or of all, ready for scoring.scores. Raises UnknownItem, EmptyScore."""
        from passnet_core.leaderboard.boards import table_of

        if run_id is not None:
            self.run(run_id)
        return table_of(self._store.samples(run_id))

    def boards(self, task_id: str | None = None) -> "tuple[Board, ...]":
        """What may be ranked together (scores_view says how), of one task or of all."""
        from passnet_core.leaderboard.boards import boards

        names = {each.bundle.digest: each.title for each in self._references}
        totals = {each.id: each.subgraphs for each in self.corpus.tasks()}
        return boards(self.score_rows(task_id), names=names, totals=totals)

    def baseline_rows(self) -> tuple[BaselineRow, ...]:
        """How TorchInductor stands against eager, on every device and capture that was measured."""
        self.wait_until_taken_in()
        return self._store.baseline_rows()

    def standings(self) -> tuple[Standing, ...]:
        """Per subgraph that was ever judged: attempts, and the best and Inductor's speedup."""
        self.wait_until_taken_in()
        return self._store.standings()

    def export_run(self, run_id: str) -> str:
        """The run as the text of one JSONL file. Raises UnknownItem, StoreRefusal while it is not finished."""
        run = self.run(run_id)
        outcomes = self._store.outcomes(run_id)
        if len(outcomes) != len(run.job_digests):
            raise StoreRefusal(
                f"Run {run_id!r} has {len(outcomes)} of {len(run.job_digests)} outcomes. "
                "Export it when it has finished."
            )
        bundles = () if run.bundle_digest is None else (self.bundle(run.bundle_digest),)
        return exchange.written(exchange.RunFile(run, bundles, outcomes))

    def import_run(self, text: str) -> str:
        """Keeps the run of an exported file, marked as recorded elsewhere, and returns its id; all of it or nothing.

        Raises BadInput naming the line, StoreRefusal where another run has that id.
        """
        files = tuple(exchange.read(text.splitlines()))
        if len(files) != 1:
            raise BadInput(f"A run file holds one run, this one {len(files)}. Import them one file at a time.")
        file = files[0]
        if not file.run.recorded:
            file = replace(file, run=replace(file.run, recorded=exchange.origin(file)))
        self._store.import_runs("", (file,))
        return file.run.id

    # --- drafts ---

    def save_draft(self, task_id: str, slot: str, bundle: Bundle) -> None:
        """Keeps what a person has written; one per task and slot counts, the last."""
        if self._store.draft(task_id, slot) != bundle:
            self._store.save_draft(task_id, slot, bundle)

    def draft(self, task_id: str, slot: str) -> Bundle | None:
        return self._store.draft(task_id, slot)

    def drafts(self) -> tuple[Draft, ...]:
        """Newest first."""
        return self._store.drafts()

    def close(self) -> None:
        """Cancels what runs, ends the judge's processes and releases the store. May be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._inspections.close()
        atexit.unregister(self.close)
        self.conversations.close()
        self._runs.cancel_all()
        self._scheduler.close()
        self.wait_until_taken_in()
        self._store.close()

    # --- inside ---

    def _known(self, job: Job) -> Outcome | None:
        """The answer to an equal job in the environment that would judge it now, under this job's names."""
        info = self.device()
        if info.environment is None or info.device is not job.spec.device:
            return None
        known = self._store.known(job.digest, info.environment.digest)
        if known is None or known.verdict not in REUSED:
            return None
        return replace(known, task_id=job.subgraph.task_id, subgraph_id=job.subgraph.id)

    def _close_orphans(self) -> None:
        """Runs whose process is gone: the jobs it left get their outcome now."""
        for left in self._store.unfinished(None):
            if store_owner.alive(left.owner):
                continue
            for position, job in zip(left.positions, left.jobs):
                outcome = Outcome(
                    job_digest=job.job_digest,
                    task_id=job.task_id,
                    subgraph_id=job.subgraph_id,
                    subgraph_digest=job.subgraph_digest,
                    dtype=job.dtype,
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

    def _load_recorded(self) -> None:
        """Takes in the recorded runs that come with the playground, each file once."""
        problems = []
        known = set(self._store.recorded_files())
        for path in sorted((self.settings.data / "baselines").glob("*.jsonl.gz")):
            try:
                digest, files = exchange.read_file(path, known)
                for start in range(0, len(files), RECORDED_AT_ONCE):
                    # a few at a time: others write meanwhile, and what is here already is passed over
                    self._store.import_runs("", tuple(files[start : start + RECORDED_AT_ONCE]))
                if digest not in known:
                    self._store.import_runs(digest, ())
            except PlaygroundError as error:
                problems.append(f"The recorded runs in {path.name} are left out: {error}")
        for path in sorted((self.settings.data / "conversations").glob("*.jsonl")):
            try:
                found = read_trajectory(path)
                digest = digest_of(to_json(found))
                if digest not in known:
                    self._store.import_trajectory(digest, found)
            except PlaygroundError as error:
                problems.append(f"The recorded conversation in {path.name} is left out: {error}")
        self._recorded_problems = tuple(problems)


def corpus_of(settings: Settings) -> Corpus:
    """The bundled tasks, and those imported."""
    return Corpus([settings.data / "tasks", settings.home / "tasks"])


def read_references(folder: Path) -> tuple[tuple[ReferenceBundle, ...], tuple[str, ...]]:
    """The bundles in a folder, by name, and what could not be read."""
    references, problems = [], []
    for place in sorted(folder.glob("*/about.json")):
        try:
            references.append(_reference(place.parent))
        except BadInput as error:
            problems.append(f"Reference bundle {place.parent.name!r} is left out: {error}")
    return tuple(references), tuple(problems)


def _reference(folder: Path) -> ReferenceBundle:
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        title, description, task_ids = str(about["title"]), str(about["description"]), tuple(map(str, about["tasks"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"about.json must have title, description and tasks ({error!r}).") from error
    return ReferenceBundle(folder.name, title, description, task_ids, read_bundle(folder, author="reference"))
