"""The one queue before a backend: fair by owner, as wide as the backend's capacity.

The page, the command line, solvers and recorders all hand their jobs to a Scheduler; nobody else calls a backend.
"""

import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TypeVar

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.base import (
    Backend,
    Capacity,
    DeviceInfo,
    JobEvent,
    Listen,
    Question,
    outcome_without_judge,
)
from passnet_core.records import Job, Outcome, Phase, Stage, Verdict

T = TypeVar("T")

TURN_S = 15.0
"""How long an owner keeps a judge while others wait: changing to another bundle costs a judge seconds."""
LOOK_EVERY_S = 0.1
NOBODY = ""
"""The owner of what is asked on behalf of no particular person."""


@dataclass(frozen=True, eq=False)
class Work:
    """One thing to do, once. owner: who takes turns with others. group: the run that it belongs to, if to any."""

    owner: str
    group: str | None
    do: Callable[[], None]


class FairQueue:
    """First come, first served for each owner; owners take turns of TURN_S. Not safe to share by threads."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Work]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, work: Work) -> None:
        self._waiting.setdefault(work.owner, deque()).append(work)

    def take(self, last: str | None = None, *, goes_on: bool = False) -> Work:
        """The next one. last: who had the turn before; it goes on, or the others come first. Raises IndexError."""
        if not self._waiting:
            raise IndexError("nothing is waiting")
        if last is not None and last in self._waiting:
            self._waiting.move_to_end(last, last=not goes_on)
        owner = next(iter(self._waiting))
        work = self._waiting[owner].popleft()
        self._waiting.move_to_end(owner)
        if not self._waiting[owner]:
            del self._waiting[owner]
        return work

    def remove(self, work: Work) -> bool:
        """Whether it was still waiting."""
        waiting = self._waiting.get(work.owner, deque())
        if work not in waiting:
            return False
        waiting.remove(work)
        if not waiting:
            del self._waiting[work.owner]
        return True

    def in_order(self) -> Iterator[Work]:
        """As they would be taken, if each turn were one piece of work."""
        left = [deque(each) for each in self._waiting.values()]
        while left:
            for each in left:
                yield each.popleft()
            left = [each for each in left if each]


@dataclass
class _Line:
    """The queue before some judges that do the same kind of work, and what they are doing."""

    threads: int
    queue: FairQueue = field(default_factory=FairQueue)
    under_way: list[Work] = field(default_factory=list)

    def ahead_of(self, group: str) -> int | None:
        """Groups before the first work of this one; None where it has begun, or nothing of it waits."""
        if any(each.group == group for each in self.under_way):
            return None
        before = {each.group for each in self.under_way}
        for work in self.queue.in_order():
            if work.group == group:
                return len(before - {None})
            before.add(work.group)
        return None


class Scheduler:
    """Has a backend do what it is given. Safe to share by threads; close() it at the end, which closes the backend."""

    def __init__(self, backend: Backend, *, now: Callable[[], float] = time.monotonic) -> None:
        self.backend = backend
        self._now = now
        self._changed = threading.Condition()
        self._lines: tuple[_Line, ...] = ()
        """Of the judges, then of the checkers where there are any; empty until the first work comes."""
        self._threads: list[threading.Thread] = []
        self._closing = False

    def capacity(self) -> Capacity:
        return self.backend.capacity()

    @property
    def here(self) -> DeviceInfo:
        """Where jobs run that ask for no other place."""
        return self.capacity().devices[0]

    def put(self, work: Work, *, light: bool) -> None:
        """Does it when its turn comes, in a thread that lives as long as this scheduler. light: a checker may do it."""
        capacity = self.capacity() if not self._lines else None
        with self._changed:
            if capacity is not None and not self._lines:
                self._begin(capacity)
            self._line(light).queue.put(work)
            self._changed.notify_all()

    def judge(self, job: Job, listen: Listen, cancelled: threading.Event, *, owner: str = NOBODY) -> Outcome:
        """The job's one outcome, once its turn has come; CANCELLED soon after the event is set."""
        if self._busy(is_light(job)):
            listen(JobEvent(Phase.QUEUED, "Waiting for the job before it."))
        return self._waited(
            owner,
            lambda: self.run_now(job, listen, cancelled),
            cancelled,
            light=is_light(job),
            otherwise=lambda: outcome_without_judge(job, Verdict.CANCELLED, "Cancelled before it started."),
        )

    def run_now(self, job: Job, listen: Listen, cancelled: threading.Event) -> Outcome:
        """The backend's outcome; one that breaks its promise of one gives an infrastructure error. For work whose turn
        has come."""
        if self._closing:
            return outcome_without_judge(job, Verdict.CANCELLED, "The judge is closed.")
        try:
            return self.backend.run(job, listen, cancelled)
        except Exception as error:  # whatever a backend meets, its job has one outcome and the queue goes on
            reason = f"The place where jobs run failed: {type(error).__name__}: {error}"
            return outcome_without_judge(job, Verdict.INFRASTRUCTURE, reason)

    def inspect(self, question: Question[T], cancelled: threading.Event, *, owner: str = NOBODY) -> T:
        """The answer, once its turn has come. Raises BadInput, and InfrastructureError, also when cancelled."""

        def refuse() -> T:
            raise InfrastructureError("The inspection was cancelled before it started.")

        return self._waited(
            owner,
            lambda: self.backend.inspect(question, cancelled),
            cancelled,
            light=question.light,
            otherwise=refuse,
        )

    def ahead_of(self, group: str) -> int | None:
        """How many groups of work come before the first of this one; None where its turn has come."""
        with self._changed:
            return next((found for line in self._lines if (found := line.ahead_of(group)) is not None), None)

    def close(self) -> None:
        """Returns when what is queued has been done, as cancelled where nobody did so before, and closes the
        backend."""
        self._closing = True
        with self._changed:
            self._changed.notify_all()
        self.backend.close()
        for thread in self._threads:
            thread.join()

    # --- inside ---

    def _busy(self, light: bool) -> bool:
        """Whether what comes now has to wait."""
        with self._changed:
            line = self._line(light) if self._lines else None
            return line is not None and (len(line.queue) + len(line.under_way) >= line.threads)

    def _line(self, light: bool) -> _Line:
        return self._lines[-1 if light else 0]

    def _begin(self, capacity: Capacity) -> None:
        counts = (capacity.judges, capacity.checkers) if capacity.checkers else (capacity.judges,)
        self._lines = tuple(map(_Line, counts))
        for line in self._lines:
            for number in range(line.threads):
                thread = threading.Thread(target=self._work, args=(line,), name=f"passnet-judge-{number}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _work(self, line: _Line) -> None:
        owner: str | None = None
        turn_ends = 0.0
        while True:
            with self._changed:
                while not line.queue and not self._closing:
                    self._changed.wait()
                if not line.queue:
                    return
                now = self._now()
                work = line.queue.take(owner, goes_on=now < turn_ends)
                if work.owner != owner or now >= turn_ends:
                    owner, turn_ends = work.owner, now + TURN_S
                line.under_way.append(work)
            try:
                work.do()
            except BaseException:  # a bug: reported like any that ends a thread, but the next job is judged
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
            finally:
                with self._changed:
                    line.under_way.remove(work)

    def _waited(
        self,
        owner: str,
        do: Callable[[], T],
        cancelled: threading.Event,
        *,
        light: bool,
        otherwise: Callable[[], T],
    ) -> T:
        """What do() returns or raises when its turn has come; otherwise() where it is cancelled before that."""
        answer: Future[T] = Future()

        def settle() -> None:
            try:
                answer.set_result(otherwise() if cancelled.is_set() else do())
            except BaseException as error:  # raised where somebody waits for it, an interrupt too
                answer.set_exception(error)

        work = Work(owner, None, settle)
        self.put(work, light=light)
        while not wait([answer], LOOK_EVERY_S).done:
            if cancelled.is_set():
                with self._changed:
                    waiting = self._line(light).queue.remove(work)
                if waiting:
                    return otherwise()
        return answer.result()


def is_light(job: Job) -> bool:
    """Whether rules and matching are all that it asks for."""
    return job.spec.stage is Stage.CHECK
