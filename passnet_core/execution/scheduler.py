"""The one queue before a backend, in which owners take turns. It runs as many jobs at once as the backend can take.

Pages, the command line, solvers and recorders all give their jobs to a Scheduler; nothing else calls a backend."""

import contextlib
import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.base import (
    Backend,
    Cancellation,
    Capacity,
    DeviceInfo,
    JobEvent,
    Listen,
    Question,
    outcome_without_judge,
)
from passnet_core.execution.bounding import bounded
from passnet_core.records import Job, Outcome, Phase, Stage, Verdict

T = TypeVar("T")

LOOK_EVERY_S = 0.1
CHARGE_EVERY_S = 5.0
"""How often what is under way is charged to its owner, in seconds."""
FORGOTTEN_S = 300.0
"""In how many seconds all but a third of what somebody has used is forgotten, when others wait."""
SLICE_S = 0.3
"""How many seconds a turn lasts whoever waits."""
MOST_TURNS = 4
"""So many times a piece of work is begun, if others need its turn before it is done."""
NEWEST = 0.1
"""What the latest piece of work counts in the mean of how long one takes."""
CANCELLED_BEFORE = "Cancelled before it started."
NOBODY = ""
"""The owner of work that is done for no particular person."""


class Meter(Protocol):
    """Counts what is judged for each owner. Its methods are called from many threads."""

    def refusal(self, owner: str) -> str:
        """Why nothing more is judged for this owner now, in a sentence; "" if it is."""

    def spent(self, owner: str, seconds: float) -> None:
        """A judge has worked so many seconds for this owner, and may go on."""

    def longest_s(self, owner: str, stage: Stage) -> float:
        """How many seconds a pass of this owner may take in a job of this stage."""

    def patience_s(self, owner: str, *, light: bool) -> float:
        """How many seconds more than others who wait this owner may have had of a judge, or of a checker for light
        work, before they go first."""


class Unmetered:
    """The meter of who serves nobody else: it counts nothing, and refuses nothing."""

    def refusal(self, owner: str) -> str:
        return ""

    def spent(self, owner: str, seconds: float) -> None:
        """Count nothing."""

    def longest_s(self, owner: str, stage: Stage) -> float:
        return math.inf

    def patience_s(self, owner: str, *, light: bool) -> float:
        return math.inf


@dataclass(eq=False)
class Work:
    """One piece of work. owner: who takes turns with other owners. group: the run that it belongs to, if any. do: does
    it, in a turn; it may raise TurnPassed, and is done anew then. priority: what has a higher one goes first, whoever
    waits. turns: how many it has had."""

    owner: str
    group: str | None
    do: "Callable[[JudgeTurn], None]"
    priority: int = 0
    turns: int = 0


class TurnPassed(Exception):
    """A turn has ended before its work was done, because others wait: the work gets another one."""


@dataclass(eq=False)
class JudgeTurn:
    """A judge's work on one piece. charged_s: what of it is charged to its owner. ended_for: why it has to end before
    it is done, in a sentence, or ""."""

    work: Work
    began: float
    charged_s: float = 0.0
    ended_for: str = ""

    def uncharged_s(self, now: float) -> float:
        return now - self.began - self.charged_s


@dataclass(frozen=True)
class _Ending:
    """Set when who asked has given up, and when the turn has to end."""

    cancelled: Cancellation
    turn: JudgeTurn

    def is_set(self) -> bool:
        return bool(self.turn.ended_for) or self.cancelled.is_set()


class FairQueue:
    """The highest priority first; among equals, owners take turns, and each is served in the order of asking. Not safe
    to share between threads."""

    def __init__(self) -> None:
        self._levels: dict[int, OrderedDict[str, deque[Work]]] = {}
        """The waiting work of each owner by priority; none of the parts is empty."""

    def __len__(self) -> int:
        return sum(len(waiting) for level in self._levels.values() for waiting in level.values())

    def put(self, work: Work, *, first: bool = False) -> None:
        """first: before other work of its owner."""
        waiting = self._levels.setdefault(work.priority, OrderedDict()).setdefault(work.owner, deque())
        waiting.insert(0 if first else len(waiting), work)

    def take(self, last: str | None = None, behind: Collection[str] = ()) -> Work:
        """Take the next piece. last: the previous owner, who lets others go first. behind: owners who do so always.
        Raises IndexError."""
        if not self._levels:
            raise IndexError("nothing is waiting")
        level = self._levels[max(self._levels)]
        if last is not None and last in level:
            level.move_to_end(last)
        owner = next((each for each in level if each not in behind), next(iter(level)))
        work = level[owner].popleft()
        level.move_to_end(owner)
        self._tidy(work)
        return work

    def remove(self, work: Work) -> bool:
        """Remove a piece of work, and tell whether it was still waiting."""
        level = self._levels.get(work.priority, OrderedDict())
        waiting = level.get(work.owner, deque())
        if work not in waiting:
            return False
        waiting.remove(work)
        self._tidy(work)
        return True

    def owners(self) -> set[str]:
        """Those whose work waits."""
        return set().union(*self._levels.values())

    def load_of(self, owner: str) -> int:
        """The number of waiting pieces of this owner's work."""
        return sum(len(level.get(owner, ())) for level in self._levels.values())

    def in_order(self) -> Iterator[Work]:
        """The order in which the work would be taken if each turn were one piece."""
        for priority in sorted(self._levels, reverse=True):
            left = [deque(each) for each in self._levels[priority].values()]
            while left:
                for each in left:
                    yield each.popleft()
                left = [each for each in left if each]

    def _tidy(self, work: Work) -> None:
        """Remove the parts that this work, which was taken, has left empty."""
        level = self._levels[work.priority]
        if not level[work.owner]:
            del level[work.owner]
        if not level:
            del self._levels[work.priority]


@dataclass(frozen=True)
class Ahead:
    """What comes before a group whose turn has not come. wait_s: about how many seconds that takes, as far as work done
    before tells; None if none was."""

    groups: int
    wait_s: float | None


@dataclass
class _Line:
    """The queue before the judges of one kind, and the work that they are doing. mean_s: of how long a piece takes, the
    latest pieces counting most; None before the first. used: seconds that each owner had lately, and as of when."""

    threads: int
    light: bool = False
    queue: FairQueue = field(default_factory=FairQueue)
    under_way: list[JudgeTurn] = field(default_factory=list)
    mean_s: float | None = None
    used: dict[str, tuple[float, float]] = field(default_factory=dict)

    def ahead_of(self, group: str) -> Ahead | None:
        """What comes before this group; None if it has begun, or if none of its work is waiting."""
        before = {each.work.group for each in self.under_way}
        if group in before:
            return None
        pieces = len(self.under_way)
        for work in self.queue.in_order():
            if work.group == group:
                wait_s = None if self.mean_s is None else pieces * self.mean_s / max(1, self.threads)
                return Ahead(len(before - {None}), wait_s)
            before.add(work.group)
            pieces += 1
        return None

    def ended(self, turn: JudgeTurn, seconds: float) -> None:
        """Note that a turn has ended, which took so many seconds."""
        self.under_way.remove(turn)
        self.mean_s = seconds if self.mean_s is None else self.mean_s + NEWEST * (seconds - self.mean_s)

    def load_of(self, owner: str) -> int:
        """The number of pieces of this owner's work that wait or are under way."""
        return self.queue.load_of(owner) + sum(each.work.owner == owner for each in self.under_way)

    def charge(self, turn: JudgeTurn, now: float) -> float:
        """Note what of a turn was not charged yet, and return it, in seconds."""
        seconds, owner = turn.uncharged_s(now), turn.work.owner
        turn.charged_s += seconds
        self.used[owner] = (self.used_lately(owner, now) + seconds, now)
        for each in [each for each in self.used if self.used_lately(each, now) < 0.01]:
            del self.used[each]
        return seconds

    def used_lately(self, owner: str, now: float) -> float:
        """How many seconds this owner has had lately; what is longer ago counts less."""
        seconds, at = self.used.get(owner, (0.0, now))
        return seconds * math.exp((at - now) / FORGOTTEN_S)

    def lead(self, owner: str, now: float) -> float:
        """How many seconds more this owner has had than who has had least of the others who wait; less than none if
        nobody does."""
        waiting = self.queue.owners() - {owner}
        uncharged_s = sum(turn.uncharged_s(now) for turn in self.under_way if turn.work.owner == owner)
        least = min((self.used_lately(each, now) for each in waiting), default=math.inf)
        return self.used_lately(owner, now) + uncharged_s - least


class Scheduler:
    """Runs work on a backend in turn. Safe to share between threads; close() also closes the backend."""

    def __init__(
        self, backend: Backend, *, now: Callable[[], float] = time.monotonic, meter: Meter | None = None
    ) -> None:
        self.backend = backend
        self.meter = meter or Unmetered()
        self._now = now
        self._changed = threading.Condition()
        self._lines: tuple[_Line, ...] = ()
        """The lines of the judges and, if there are any, of the checkers; empty until the first work arrives."""
        self._may_grow = False
        """Whether the backend may get more judges than it has."""
        self._threads: list[threading.Thread] = []
        self._closing = False
        if meter is not None:
            self._start(self._watch, "passnet-turns")

    def capacity(self) -> Capacity:
        return self.backend.capacity()

    @property
    def here(self) -> DeviceInfo:
        """The device on which jobs run by default."""
        return self.capacity().devices[0]

    def put(self, work: Work, *, light: bool) -> None:
        """Queue work, which runs in a thread of this scheduler. light: a checker may do it."""
        capacity = self.capacity() if not self._lines or self._may_grow else None
        with self._changed:
            if capacity is not None:
                self._fit(capacity)
            self._line(light).queue.put(work)
            self._changed.notify_all()

    def judge(
        self, job: Job, listen: Listen, cancelled: threading.Event, *, owner: str = NOBODY, priority: int = 0
    ) -> Outcome:
        """Wait for the job's turn, and return its one outcome; CANCELLED soon after the event is set."""
        if self._busy(is_light(job)):
            listen(JobEvent(Phase.QUEUED, "Waiting for other jobs."))
        return self._waited(
            owner,
            lambda turn: self.run_now(job, listen, cancelled, turn),
            cancelled,
            light=is_light(job),
            otherwise=lambda: outcome_without_judge(job, Verdict.CANCELLED, CANCELLED_BEFORE),
            priority=priority,
        )

    def queue(
        self, job: Job, listen: Listen, cancelled: threading.Event, *, owner: str = NOBODY, priority: int = 0
    ) -> "Future[Outcome]":
        """Queue a job, and return its one outcome to come; CANCELLED if the event is set before its turn comes."""
        outcome: Future[Outcome] = Future()

        def settle(turn: JudgeTurn) -> None:
            if cancelled.is_set():
                outcome.set_result(outcome_without_judge(job, Verdict.CANCELLED, CANCELLED_BEFORE))
            else:
                outcome.set_result(self.run_now(job, listen, cancelled, turn))

        self.put(Work(owner, None, settle, priority), light=is_light(job))
        return outcome

    def run_now(self, job: Job, listen: Listen, cancelled: threading.Event, turn: JudgeTurn) -> Outcome:
        """Run a job whose turn has come. A backend that raises gives an infrastructure error as the outcome. Raises
        TurnPassed, which its work must pass on."""
        if self._closing:
            return outcome_without_judge(job, Verdict.CANCELLED, "The judge is closed.")
        try:
            outcome = bounded(self.backend.run(job, listen, _Ending(cancelled, turn)))
        except Exception as error:  # whatever fails in a backend, the job has one outcome and the queue continues
            reason = f"The backend failed: {type(error).__name__}: {error}"
            return outcome_without_judge(job, Verdict.INFRASTRUCTURE, reason)
        if not turn.ended_for or outcome.verdict is not Verdict.CANCELLED or cancelled.is_set():
            return outcome
        if turn.work.turns < MOST_TURNS:
            listen(JobEvent(Phase.QUEUED, "Begun anew when those have had their turn who wait and have used less."))
            raise TurnPassed
        return replace(outcome, reason=turn.ended_for)

    def inspect(self, question: Question[T], cancelled: threading.Event, *, owner: str = NOBODY) -> T:
        """Wait for the turn of a question, and return the answer. Raises like Backend.inspect."""

        def refuse() -> T:
            raise InfrastructureError("The inspection was cancelled before it started.")

        def answer(turn: JudgeTurn) -> T:
            try:
                return self.backend.inspect(question, _Ending(cancelled, turn))
            except InfrastructureError:
                if not turn.ended_for or cancelled.is_set():
                    raise
                raise InfrastructureError(turn.ended_for) if turn.work.turns == MOST_TURNS else TurnPassed from None

        return self._waited(owner, answer, cancelled, light=question.light, otherwise=refuse)

    def ahead_of(self, group: str) -> Ahead | None:
        """What comes before this group; None if its turn has come."""
        with self._changed:
            return next((found for line in self._lines if (found := line.ahead_of(group)) is not None), None)

    def load(self, *, light: bool = False) -> int:
        """The number of pieces of work that wait or are under way. light: only before who does light work."""
        with self._changed:
            lines = self._lines[-1:] if light else self._lines
            return sum(len(line.queue) + len(line.under_way) for line in lines)

    def loads(self) -> dict[str, int]:
        """The number of pieces of work that wait or are under way, by owner."""
        with self._changed:
            under_way = (turn.work for line in self._lines for turn in line.under_way)
            waiting = (work for line in self._lines for work in line.queue.in_order())
            return dict(Counter(work.owner for work in (*under_way, *waiting)))

    def load_of(self, owner: str) -> int:
        """The number of pieces of work of this owner that wait or are under way."""
        with self._changed:
            return sum(line.load_of(owner) for line in self._lines)

    def close(self) -> None:
        """Close the backend, and return once all queued work has ended; queued jobs end as cancelled."""
        self._closing = True
        with self._changed:
            self._changed.notify_all()
        self.backend.close()
        for thread in self._threads:
            thread.join()

    # --- inside ---

    def _busy(self, light: bool) -> bool:
        """Whether new work would have to wait."""
        with self._changed:
            line = self._line(light) if self._lines else None
            return line is not None and (len(line.queue) + len(line.under_way) >= line.threads)

    def _line(self, light: bool) -> _Line:
        return self._lines[-1 if light else 0]

    def _fit(self, capacity: Capacity) -> None:
        """Have as many threads as the backend has judges and checkers. Threads that are too many find nothing to do."""
        if not self._lines:
            # what may grow may get its first checkers later
            both = capacity.checkers or capacity.may_grow
            self._lines = (_Line(0), _Line(0, light=True)) if both else (_Line(0),)
            self._may_grow = capacity.may_grow
        for line, count in zip(self._lines, (capacity.judges, max(1, capacity.checkers)), strict=False):
            for number in range(line.threads, count):
                self._start(partial(self._work, line), f"passnet-judge-{number}")
            line.threads = max(line.threads, count)

    def _start(self, do: Callable[[], None], name: str) -> None:
        """Do something in a thread. A bug ends that thread, which reports it, and another one does it anew."""

        def lasting() -> None:
            with contextlib.ExitStack() as unless_done:
                unless_done.callback(self._start, do, name)
                do()
                unless_done.pop_all()

        thread = threading.Thread(target=lasting, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self, line: _Line) -> None:
        owner: str | None = None
        while True:
            with self._changed:
                while not line.queue and not self._closing:
                    self._changed.wait()
                if not line.queue:
                    return
                now = self._now()
                behind = [each for each in line.queue.owners() if self._must_yield(line, each, now)]
                work = line.queue.take(owner, behind)
                owner = work.owner
                work.turns += 1
                turn = JudgeTurn(work, now)
                line.under_way.append(turn)
                self._changed.notify_all()
            passed = False
            try:
                work.do(turn)
            except TurnPassed:
                passed = True
            finally:
                with self._changed:
                    now = self._now()
                    seconds = line.charge(turn, now)
                    line.ended(turn, now - turn.began)
                    if passed:
                        line.queue.put(work, first=True)
                self.meter.spent(owner, seconds)

    def _watch(self) -> None:
        """While work is under way, charge it to its owners, and end the turn of who has had more than others who wait
        for it."""
        while not self._closing:
            time.sleep(LOOK_EVERY_S)
            with self._changed:
                self._changed.wait_for(lambda: self._closing or any(line.under_way for line in self._lines))
            for line in self._lines:
                for turn in tuple(line.under_way):
                    self._look_after(line, turn)

    def _look_after(self, line: _Line, turn: JudgeTurn) -> None:
        owner = turn.work.owner
        with self._changed:
            now = self._now()
            if turn not in line.under_way:
                return
            if now - turn.began >= SLICE_S and self._must_yield(line, owner, now):
                turn.ended_for = (
                    f"It was begun {MOST_TURNS} times, and ended each time for others who wait and have used less. Run"
                    " it again when fewer people are at work here."
                )
            seconds = line.charge(turn, now) if turn.uncharged_s(now) >= CHARGE_EVERY_S else 0.0
        if seconds:
            self.meter.spent(owner, seconds)

    def _must_yield(self, line: _Line, owner: str, now: float) -> bool:
        """Whether this owner has had so much more than others who wait that they go first."""
        lead = line.lead(owner, now)
        return lead > 0 and lead > self.meter.patience_s(owner, light=line.light)

    def _waited(
        self,
        owner: str,
        do: Callable[[JudgeTurn], T],
        cancelled: threading.Event,
        *,
        light: bool,
        otherwise: Callable[[], T],
        priority: int = 0,
    ) -> T:
        """The result of do() when its turn has come, or of otherwise() if it is cancelled before that."""
        answer: Future[T] = Future()

        def settle(turn: JudgeTurn) -> None:
            try:
                answer.set_result(otherwise() if cancelled.is_set() else do(turn))
            except TurnPassed:
                raise
            except BaseException as error:  # raised where somebody waits for it, an interrupt too
                answer.set_exception(error)

        work = Work(owner, None, settle, priority)
        self.put(work, light=light)
        while not wait([answer], LOOK_EVERY_S).done:
            if cancelled.is_set():
                with self._changed:
                    waiting = self._line(light).queue.remove(work)
                if waiting:
                    return otherwise()
        return answer.result()


def is_light(job: Job) -> bool:
    """Whether the job needs only rules and matching, and no values."""
    return job.spec.stage is Stage.CHECK
