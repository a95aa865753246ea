"""The runs in progress of this process. Their jobs go to the scheduler, and their outcomes to the store."""

import contextlib
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from passnet_core.errors import PlaygroundError, StoreRefusal
from passnet_core.execution.backends.base import JobEvent, outcome_without_judge
from passnet_core.execution.scheduler import NOBODY, Ahead, JudgeTurn, Scheduler, TurnPassed, Work, is_light
from passnet_core.records import Job, Outcome, Phase, Run, Subgraph, Verdict

Append = Callable[[str, int, Outcome], None]
"""Stores an outcome, given the run's id and the job's position in it, from 0. Raises StoreError."""
Known = Callable[[Job], Outcome | None]
"""The stored outcome of an equal job, if there is one."""

LOG_TAIL_CHARACTERS = 8_000
STEP = re.compile(r"\b(\d+) of (\d+)\b")
KEPT = 1_000
"""Of how many finished runs it stays in memory how they ended; the store has their outcomes."""
KEPT_FAILED = 20
"""How many runs stay in memory whose outcomes the store did not take."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come. finished: no more outcomes will arrive.

    done: number of jobs with an outcome. outcomes: these outcomes, in the order of the jobs. phase, subgraph_id,
    log_tail, detail (a sentence): of the job that reported last. elapsed_s: seconds since the first job began.
    left_s: about how many seconds are left of the comparison, or of the run if it judges several subgraphs; None if
    nothing tells. queue_position: number of runs ahead of it, None unless it waits. wait_s: about how many seconds it
    waits still, None if nothing tells. elsewhere: another process judges it. problem: why it ended before its last
    outcome, otherwise empty."""

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
    left_s: float | None = None
    wait_s: float | None = None


@dataclass(frozen=True)
class RunEnding:
    """What the store does not have of a run of this process that has finished. The fields are those of Progress."""

    phase: Phase
    subgraph_id: str
    elapsed_s: float
    problem: str


class RunsInProgress:
    """Gets every job of every run its one outcome, and stores it before showing it. Safe to share between threads."""

    def __init__(self, scheduler: Scheduler, append: Append, known: Known) -> None:
        self._scheduler = scheduler
        self._append = append
        self._known = known
        self._lock = threading.Lock()
        self._runs: dict[str, RunInProgress] = {}
        self._endings: dict[str, RunEnding] = {}
        self._failed: deque[str] = deque()

    def start(self, run: Run, jobs: tuple[Job, ...], *, fresh: bool, owner: str = NOBODY) -> None:
        """Judge these jobs in the background. fresh: judge even jobs whose outcome is known."""
        started = RunInProgress(run, jobs, self._keep_ending)
        with self._lock:
            self._runs[run.id] = started
        for position, job in enumerate(jobs):
            do = partial(self._judge, started, position, job, fresh, owner)
            self._scheduler.put(Work(owner, run.id, do), light=is_light(job))

    def find(self, run_id: str) -> "RunInProgress | None":
        """The run with this id; None if it is not of this process, or has finished and is in the store."""
        return self._runs.get(run_id)

    def ending(self, run_id: str) -> RunEnding | None:
        """How a run of this process has ended; None if it has not, or if KEPT others have ended since."""
        return self._endings.get(run_id)

    def _keep_ending(self, run_id: str, ending: RunEnding) -> None:
        with self._lock:
            self._endings[run_id] = ending
            if not ending.problem:
                del self._runs[run_id]
            else:
                self._failed.append(run_id)
                if len(self._failed) > KEPT_FAILED:
                    del self._runs[self._failed.popleft()]
            while len(self._endings) > KEPT:
                del self._endings[next(iter(self._endings))]

    def progress(self, started: "RunInProgress") -> Progress:
        return started.progress(self._scheduler.ahead_of(started.run.id))

    def cancel_all(self) -> None:
        """Cancel all runs, and return once every job has its outcome."""
        for started in tuple(self._runs.values()):
            started.cancelled.set()
        for started in tuple(self._runs.values()):
            started.wait()

    def _judge(
        self, started: "RunInProgress", position: int, job: Job, fresh: bool, owner: str, turn: JudgeTurn
    ) -> None:
        if started.finished:
            return
        bug = StoreRefusal("An error in the playground ended the run; its log has the details.")
        with contextlib.ExitStack() as unless_settled:
            # whatever happens, those who wait for the run must not wait forever
            unless_settled.callback(started.fail, bug)
            try:
                outcome = self._outcome(started, job, fresh, owner, turn)
                self._append(started.run.id, position, outcome)
                started.add(position, outcome)
            except PlaygroundError as error:
                started.fail(error)
            except TurnPassed:
                unless_settled.pop_all()
                raise
            unless_settled.pop_all()

    def _outcome(self, started: "RunInProgress", job: Job, fresh: bool, owner: str, turn: JudgeTurn) -> Outcome:
        started.begin()
        if started.cancelled.is_set():
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled before it was judged.")
        started.turn_to(job.subgraph)
        known = None if fresh else self._known(job)
        if known is not None:
            return known
        if refused := self._scheduler.meter.refusal(owner):
            return outcome_without_judge(job, Verdict.CANCELLED, refused)
        return self._scheduler.run_now(job, started.listen, started.cancelled, turn)


@dataclass(frozen=True)
class Steps:
    """Steps of which the judge tells "input set 3 of 6", and when the first and the present one began, in seconds."""

    step: int = 0
    of: int = 0
    first: float = 0.0
    present: float = 0.0

    def at(self, text: str, now: float) -> "Steps":
        """The steps after the judge has told this; none if it tells of something else."""
        told = STEP.search(text)
        if told is None:
            return Steps()
        step, of = int(told[1]), int(told[2])
        return Steps(step, of, self.first if self.of == of and step > 1 else now, now)

    def left(self, now: float) -> float | None:
        """About how long the present and the later steps still take, if they take as long as those before."""
        if self.step < 2:
            return None
        each = (self.present - self.first) / (self.step - 1)
        return max(each - (now - self.present), 0.0) + each * (self.of - self.step)


class RunInProgress:
    """The state of a run of this process, written by the scheduler's threads and read by others."""

    def __init__(self, run: Run, jobs: tuple[Job, ...], on_end: Callable[[str, RunEnding], None]) -> None:
        """on_end is called once, with the run's id, before those who wait for its end go on."""
        self._on_end = on_end
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
        self._steps = Steps()

    def begin(self) -> None:
        with self._changed:
            self._started = self._started or time.monotonic()

    def turn_to(self, subgraph: Subgraph) -> None:
        with self._changed:
            self._phase, self._detail, self._subgraph_id, self._log = Phase.START, "", subgraph.id, ""
            self._steps = Steps()

    def listen(self, event: JobEvent) -> None:
        with self._changed:
            if event.phase is Phase.LOG:
                self._log = event.text[-LOG_TAIL_CHARACTERS:]
            else:
                self._phase, self._detail = event.phase, event.text
                self._steps = self._steps.at(event.text, time.monotonic())

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
        if self.finished:
            return
        self._detail, self._ended, self.finished = "", time.monotonic(), True
        ending = RunEnding(self._phase, self._subgraph_id, self._elapsed_s(), str(self.failure or ""))
        self._on_end(self.run.id, ending)

    def _elapsed_s(self) -> float:
        return 0.0 if self._started is None else (self._ended or time.monotonic()) - self._started

    def arriving(self) -> Iterator[tuple[int, Outcome]]:
        """Yield each outcome with its position, in the order of the jobs, as it arrives, until the run has finished."""
        for position in range(len(self.jobs)):
            with self._changed:
                while position not in self._outcomes and not self.finished:
                    self._changed.wait()
                if position not in self._outcomes:
                    return
                outcome = self._outcomes[position]
            yield position, outcome

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it has finished. seconds: or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: self.finished, seconds)

    def progress(self, ahead: Ahead | None) -> Progress:
        with self._changed:
            elapsed_s = self._elapsed_s()
            outcomes = tuple(self._outcomes[position] for position in sorted(self._outcomes))
            waiting = ahead if self._started is None else None
            cancelled = any(outcome.verdict is Verdict.CANCELLED for outcome in outcomes)
            return Progress(
                run=self.run,
                total=len(self.jobs),
                done=len(outcomes),
                phase=self._phase,
                subgraph_id=self._subgraph_id,
                log_tail=self._log,
                elapsed_s=elapsed_s,
                queue_position=waiting.groups if waiting else None,
                finished=self.finished,
                cancelled=cancelled or (self.cancelled.is_set() and not self.finished),
                outcomes=outcomes,
                problem=str(self.failure or ""),
                detail=self._detail,
                left_s=None if self.finished else self._left(elapsed_s, len(outcomes)),
                wait_s=waiting.wait_s if waiting else None,
            )

    def _left(self, elapsed_s: float, done: int) -> float | None:
        if len(self.jobs) > 1:
            return elapsed_s / done * (len(self.jobs) - done) if done else None
        return self._steps.left(time.monotonic())
