"""The runs of this process that are under way: their jobs go to the scheduler, their outcomes to whoever keeps them."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from passnet_core.errors import PlaygroundError, StoreRefusal
from passnet_core.execution.backends.base import JobEvent, outcome_without_judge
from passnet_core.execution.scheduler import NOBODY, Scheduler, Work, is_light
from passnet_core.records import Job, Outcome, Phase, Run, Subgraph, Verdict

Append = Callable[[str, int, Outcome], None]
"""Keeps an outcome: the run's id, the job's place in it from 0. Raises StoreError."""
Known = Callable[[Job], Outcome | None]
"""The answer to an equal job, if there is one."""

LOG_TAIL_CHARACTERS = 8_000
KEPT = 50
"""Finished runs that are remembered here; all of them are in the store."""


@dataclass(frozen=True)
class Progress:
    """How far a run is. finished: nothing more will come.

    done: jobs with an outcome; outcomes: those, in the order of the jobs. phase, detail (a sentence), subgraph_id,
    log_tail: of the job that was heard of last. elapsed_s: since its first job began. queue_position: runs ahead of it,
    None unless it waits. elsewhere: another process judges it. problem: why it ended before its last outcome; empty
    otherwise.
    """

    run: Run
    total: int
    done: int
    phase: Phase
    subgraph_id: str
    log_tail: str
    elapsed_s: float
    queue_position: int | None
    finished: bool
    cancelled: bool
    outcomes: tuple[Outcome, ...]
    problem: str = ""
    detail: str = ""
    elsewhere: bool = False


class RunsInProgress:
    """Gives every job of every run its one outcome, kept before it is shown. Safe to share by threads."""

    def __init__(self, scheduler: Scheduler, append: Append, known: Known) -> None:
        self._scheduler = scheduler
        self._append = append
        self._known = known
        self._lock = threading.Lock()
        self._runs: dict[str, RunInProgress] = {}

    def start(self, run: Run, jobs: tuple[Job, ...], *, fresh: bool, owner: str = NOBODY) -> None:
        """Judges these jobs in the background. fresh: also those whose answer is known."""
        started = RunInProgress(run, jobs)
        with self._lock:
            self._runs[run.id] = started
            finished = [run_id for run_id, each in self._runs.items() if each.finished]
            for run_id in finished[:-KEPT]:
                del self._runs[run_id]
        for position, job in enumerate(jobs):
            do = partial(self._judge, started, position, job, fresh)
            self._scheduler.put(Work(owner, run.id, do), light=is_light(job))

    def find(self, run_id: str) -> "RunInProgress | None":
        return self._runs.get(run_id)

    def progress(self, started: "RunInProgress") -> Progress:
        return started.progress(self._scheduler.ahead_of(started.run.id))

    def cancel_all(self) -> None:
        """Returns when each job has its outcome: cancelled, unless it has another."""
        for started in tuple(self._runs.values()):
            started.cancelled.set()
        for started in tuple(self._runs.values()):
            started.wait()

    def _judge(self, started: "RunInProgress", position: int, job: Job, fresh: bool) -> None:
        if started.finished:
            return
        mistake = StoreRefusal("The run ended by a mistake of the playground's own; its log says more.")
        with contextlib.ExitStack() as unless_settled:
            # who waits for the run must not wait for ever
            unless_settled.callback(started.fail, mistake)
            try:
                outcome = self._outcome(started, job, fresh)
                self._append(started.run.id, position, outcome)
                started.add(position, outcome)
            except PlaygroundError as error:
                started.fail(error)
            unless_settled.pop_all()

    def _outcome(self, started: "RunInProgress", job: Job, fresh: bool) -> Outcome:
        started.begin()
        if started.cancelled.is_set():
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled before it was judged.")
        started.turn_to(job.subgraph)
        known = None if fresh else self._known(job)
        return known or self._scheduler.run_now(job, started.listen, started.cancelled)


class RunInProgress:
    """A run of this process, as the scheduler's threads fill it and others look at it."""

    def __init__(self, run: Run, jobs: tuple[Job, ...]) -> None:
        self.run = run
        self.jobs = jobs
        self.cancelled = threading.Event()
        self.failure: PlaygroundError | None = None
        self.finished = False
        self._changed = threading.Condition()
        self._outcomes: dict[int, Outcome] = {}
        self._phase = Phase.QUEUED
        self._detail = ""
        self._subgraph_id = ""
        self._log = ""
        self._started: float | None = None
        self._ended: float | None = None

    def begin(self) -> None:
        with self._changed:
            self._started = self._started or time.monotonic()

    def turn_to(self, subgraph: Subgraph) -> None:
        with self._changed:
            self._phase, self._detail, self._subgraph_id, self._log = Phase.START, "", subgraph.id, ""

    def listen(self, event: JobEvent) -> None:
        with self._changed:
            if event.phase is Phase.LOG:
                self._log = event.text[-LOG_TAIL_CHARACTERS:]
            else:
                self._phase, self._detail = event.phase, event.text

    def add(self, position: int, outcome: Outcome) -> None:
        with self._changed:
            self._outcomes[position] = outcome
            if len(self._outcomes) == len(self.jobs):
                self._end()
            self._changed.notify_all()

    def fail(self, failure: PlaygroundError) -> None:
        with self._changed:
            self.failure = failure
            self._end()
            self._changed.notify_all()

    def _end(self) -> None:
        self._detail, self._ended, self.finished = "", time.monotonic(), True

    def arriving(self) -> Iterator[tuple[int, Outcome]]:
        """Each outcome with its place, in the order of the jobs, as they come, until the run has finished."""
        for position in range(len(self.jobs)):
            with self._changed:
                while position not in self._outcomes and not self.finished:
                    self._changed.wait()
                if position not in self._outcomes:
                    return
                outcome = self._outcomes[position]
            yield position, outcome

    def wait(self) -> None:
        with self._changed:
            while not self.finished:
                self._changed.wait()

    def progress(self, ahead: int | None) -> Progress:
        with self._changed:
            elapsed_s = 0.0 if self._started is None else (self._ended or time.monotonic()) - self._started
            outcomes = tuple(self._outcomes[position] for position in sorted(self._outcomes))
            cancelled = any(outcome.verdict is Verdict.CANCELLED for outcome in outcomes)
            return Progress(
                run=self.run,
                total=len(self.jobs),
                done=len(outcomes),
                phase=self._phase,
                subgraph_id=self._subgraph_id,
                log_tail=self._log,
                elapsed_s=elapsed_s,
                queue_position=None if self._started is not None else ahead,
                finished=self.finished,
                cancelled=cancelled or (self.cancelled.is_set() and not self.finished),
                outcomes=outcomes,
                problem=str(self.failure or ""),
                detail=self._detail,
            )
