"""The one queue: fair by owner, as wide as the backend says, and never without an outcome."""

import contextlib
import itertools
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.base import Cancellation, InspectSubgraph, JobEvent, Listen, outcome_without_judge
from passnet_core.execution.scheduler import MOST_TURNS, FairQueue, JudgeTurn, Scheduler, Work
from passnet_core.records import Device, EvalSpec, Job, Outcome, Phase, Stage, Subgraph, TensorSpec, Verdict
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend
from tests.waiting import eventually, seconds

NEVER = threading.Event()


def job(name: str, stage: Stage = Stage.VERIFY) -> Job:
    inputs = (TensorSpec("in_0", (2,), "float32"),)
    return Job(Subgraph(name, "task", "none", "code", inputs), None, EvalSpec(stage=stage))


def answered(asked: Job) -> Outcome:
    return outcome_without_judge(asked, Verdict.CRASHED, "as given", environment=FAKE_ENVIRONMENT)


def silent(event: JobEvent) -> None:
    return None


def work(owner: str, name: str) -> Work:
    return Work(owner, name, lambda turn: None)


class Gate:
    """An answer that waits until it is let through, and counts who is inside."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = threading.Semaphore(0)
        self.order: list[str] = []

    def __call__(self, asked: Job) -> Outcome:
        self.order.append(asked.subgraph.id)
        self.entered.release()
        assert self.opened.wait(seconds(30))
        return answered(asked)


@contextmanager
def scheduling(backend: FakeBackend, now: Callable[[], float] = lambda: 0.0) -> Iterator[Scheduler]:
    scheduler = Scheduler(backend, now=now)
    try:
        yield scheduler
    finally:
        scheduler.close()


def started(scheduler: Scheduler, owner: str, asked: Job, found: list[Outcome]) -> threading.Thread:
    thread = threading.Thread(target=lambda: found.append(scheduler.judge(asked, silent, NEVER, owner=owner)))
    thread.start()
    return thread


def queued(scheduler: Scheduler, count: int) -> None:
    """Returns when so many wait."""
    with scheduler._changed:
        waiting = lambda: sum(len(line.queue) for line in scheduler._lines)
        assert scheduler._changed.wait_for(lambda: waiting() == count, seconds(30))


def test_owners_take_turns_and_each_is_served_in_order() -> None:
    queue = FairQueue()
    for owner, name in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")):
        queue.put(work(owner, name))
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert [each.group for each in queue.in_order()] == expected
    assert [queue.take().group for _ in range(len(queue))] == expected
    with pytest.raises(IndexError):
        queue.take()


def test_who_had_a_turn_comes_after_those_who_wait() -> None:
    queue = FairQueue()
    for owner, name in (("a", "a2"), ("b", "b1")):
        queue.put(work(owner, name))
    assert [queue.take("a").group, queue.take("b").group] == ["b1", "a2"]


def test_what_is_removed_is_not_done() -> None:
    queue = FairQueue()
    first, second = work("a", "a1"), work("a", "a2")
    queue.put(first)
    queue.put(second)
    assert queue.remove(first)
    assert not queue.remove(first)
    assert [each.group for each in queue.in_order()] == ["a2"]


def test_a_late_owner_waits_for_a_turn_and_not_for_everything_before() -> None:
    gate = Gate()
    found: list[Outcome] = []
    with scheduling(FakeBackend(gate)) as scheduler:
        threads = []
        for name in ("a1", "a2", "a3"):
            threads.append(started(scheduler, "a", job(name), found))
            queued(scheduler, len(threads) - 1) if len(threads) > 1 else gate.entered.acquire(timeout=seconds(30))
        threads.append(started(scheduler, "b", job("b1"), found))
        queued(scheduler, 3)
        gate.opened.set()
        for each in threads:
            each.join(seconds(30))
    assert gate.order == ["a1", "b1", "a2", "a3"]
    assert len(found) == 4


def test_as_many_at_once_as_there_are_judges() -> None:
    gate = Gate()
    found: list[Outcome] = []
    with scheduling(FakeBackend(gate, judges=2)) as scheduler:
        threads = [started(scheduler, "", job(name), found) for name in ("one", "two", "three")]
        assert gate.entered.acquire(timeout=seconds(30))
        assert gate.entered.acquire(timeout=seconds(30))
        assert len(gate.order) == 2
        gate.opened.set()
        for each in threads:
            each.join(seconds(30))
    assert len(found) == 3


def test_a_check_does_not_wait_for_a_measurement_where_there_is_a_checker() -> None:
    gate = Gate()
    found: list[Outcome] = []

    def answer(asked: Job) -> Outcome:
        return answered(asked) if asked.spec.stage is Stage.CHECK else gate(asked)

    with scheduling(FakeBackend(answer)) as scheduler:
        thread = started(scheduler, "", job("slow", Stage.MEASURE), found)
        assert gate.entered.acquire(timeout=seconds(30))
        assert scheduler.judge(job("quick", Stage.CHECK), silent, NEVER).verdict is Verdict.CRASHED
        assert not found
        gate.opened.set()
        thread.join(seconds(30))


def test_who_must_wait_hears_it_and_may_leave() -> None:
    gate = Gate()
    found: list[Outcome] = []
    heard: list[JobEvent] = []
    with scheduling(FakeBackend(gate)) as scheduler:
        thread = started(scheduler, "", job("first"), found)
        assert gate.entered.acquire(timeout=seconds(30))
        leaving = threading.Event()
        leaving.set()
        assert scheduler.judge(job("second"), heard.append, leaving).verdict is Verdict.CANCELLED
        with pytest.raises(InfrastructureError, match="cancelled"):
            scheduler.inspect(InspectSubgraph(job("third").subgraph, Device.CPU), leaving)
        assert [event.phase for event in heard] == [Phase.QUEUED]
        gate.opened.set()
        thread.join(seconds(30))
    assert gate.order == ["first"]


def test_what_comes_before_is_counted_by_group() -> None:
    gate = Gate()
    found: list[Outcome] = []
    with scheduling(FakeBackend(gate)) as scheduler:
        thread = started(scheduler, "a", job("first"), found)
        assert gate.entered.acquire(timeout=seconds(30))
        for name in ("run 1", "run 1", "run 2"):
            scheduler.put(work("a", name), light=False)
        scheduler.put(work("b", "run 3"), light=False)
        # what is under way is no run, and not counted
        ahead = [scheduler.ahead_of(name) for name in ("run 1", "run 3", "run 2")]
        assert [each and each.groups for each in ahead] == [0, 1, 2]
        assert [each and each.wait_s for each in ahead] == [None] * 3, "nothing was done yet that could tell"
        assert scheduler.loads() == {"a": 4, "b": 1}
        assert scheduler.ahead_of("another") is None
        gate.opened.set()
        thread.join(seconds(30))


def test_the_wait_is_what_earlier_work_took_times_the_work_ahead() -> None:
    gate, clock = Gate(), itertools.count(0.0, 3.0)
    found: list[Outcome] = []
    with contextlib.closing(Scheduler(FakeBackend(gate), now=lambda: next(clock))) as scheduler:
        gate.opened.set()
        for name in ("first", "second"):
            assert scheduler.judge(job(name), lambda event: None, threading.Event())
        gate.opened.clear()
        while gate.entered.acquire(blocking=False):
            pass
        thread = started(scheduler, "a", job("third"), found)
        assert gate.entered.acquire(timeout=seconds(30))
        for name in ("run 1", "run 2"):
            scheduler.put(work("b", name), light=False)
        ahead = scheduler.ahead_of("run 2")
        assert ahead is not None
        # each reading of the clock is 3 s later than the one before, and one comes after a piece of work has begun
        assert ahead.wait_s == 2 * 3.0
        gate.opened.set()
        thread.join(seconds(30))


def test_a_backend_that_breaks_gives_an_outcome_and_the_queue_goes_on() -> None:
    answers = [ZeroDivisionError("lost"), TimeoutError()]

    def answer(asked: Job) -> Outcome:
        if answers:
            raise answers.pop(0)
        return answered(asked)

    with scheduling(FakeBackend(answer)) as scheduler:
        first, second, third = (scheduler.judge(job(name), silent, NEVER) for name in "abc")
    assert [first.verdict, second.verdict, third.verdict] == [*[Verdict.INFRASTRUCTURE] * 2, Verdict.CRASHED]
    assert "ZeroDivisionError: lost" in first.reason


def test_closing_closes_the_backend_and_refuses_what_still_waits() -> None:
    gate = Gate()
    found: list[Outcome] = []
    backend = FakeBackend(gate)
    scheduler = Scheduler(backend)
    threads = [started(scheduler, "", job("first"), found)]
    assert gate.entered.acquire(timeout=seconds(30))
    threads.append(started(scheduler, "", job("second"), found))
    queued(scheduler, 1)
    closing = threading.Thread(target=scheduler.close)
    closing.start()
    gate.opened.set()
    for each in (*threads, closing):
        each.join(seconds(30))
    assert sorted(each.verdict for each in found) == sorted([Verdict.CRASHED, Verdict.CANCELLED])
    assert backend.closed


def test_an_interrupt_in_a_job_reaches_who_waits_for_it_and_the_next_job_is_judged() -> None:
    def interrupted(asked: Job) -> Outcome:
        raise KeyboardInterrupt

    backend = FakeBackend(interrupted)
    with scheduling(backend) as scheduler:
        with pytest.raises(KeyboardInterrupt):
            scheduler.judge(job("first"), silent, NEVER)
        backend.answer = answered
        assert scheduler.judge(job("second"), silent, NEVER).verdict is Verdict.CRASHED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_in_queued_work_is_reported_and_the_next_job_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", reported.append)

    def broken(turn: JudgeTurn) -> None:
        raise AssertionError("a bug")

    with scheduling(FakeBackend(answered)) as scheduler:
        scheduler.put(Work("somebody", None, broken), light=False)
        assert scheduler.judge(job("next"), silent, NEVER).verdict is Verdict.CRASHED
    (told,) = reported
    assert isinstance(told.exc_value, AssertionError)


def test_judges_that_a_backend_gets_later_are_used() -> None:
    gate = Gate()
    backend = FakeBackend(gate, judges=1, checkers=0)
    backend.told = replace(backend.told, may_grow=True)
    with scheduling(backend) as scheduler:
        futures = [scheduler.queue(job("first"), silent, NEVER), scheduler.queue(job("second"), silent, NEVER)]
        assert gate.entered.acquire(timeout=seconds(30))
        queued(scheduler, 1)
        assert gate.order == ["first"]
        backend.told = replace(backend.told, judges=3, checkers=1)
        futures.append(scheduler.queue(job("third"), silent, NEVER))
        assert gate.entered.acquire(timeout=seconds(30))
        assert gate.entered.acquire(timeout=seconds(30))
        gate.opened.set()
        assert [each.result(seconds(30)).verdict for each in futures] == [Verdict.CRASHED] * 3


class Watched:
    """A meter that notes what is charged to whom, and lets nobody have more of a judge than so many seconds."""

    def __init__(self, patience_s: float) -> None:
        self.patience = patience_s
        self.charged: dict[str, float] = {}
        self.changed = threading.Condition()

    def refusal(self, owner: str) -> str:
        return ""

    def spent(self, owner: str, seconds: float) -> None:
        with self.changed:
            self.charged[owner] = self.charged.get(owner, 0.0) + seconds
            self.changed.notify_all()

    def longest_s(self, owner: str, stage: Stage) -> float:
        return math.inf

    def patience_s(self, owner: str, *, light: bool) -> float:
        return self.patience

    def has_charged(self, owner: str) -> bool:
        """Whether anything is charged to this owner before long."""
        with self.changed:
            return self.changed.wait_for(lambda: owner in self.charged, seconds(30))


class Endless(FakeBackend):
    """Works on what belongs to a subgraph "endless" until it is given up."""

    def __init__(self) -> None:
        super().__init__(answered)
        self.begun = threading.Event()

    def run(self, asked: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        if asked.subgraph.id != "endless":
            return super().run(asked, listen, cancelled)
        self.begun.set()
        eventually(cancelled.is_set)
        return outcome_without_judge(asked, Verdict.CANCELLED, "Cancelled while it ran.")


class Ticking:
    """A clock that each look moves on by a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("stage", [Stage.CHECK, Stage.VERIFY])
def test_who_holds_a_judge_while_others_wait_lets_them_go_first_and_begins_anew(stage: Stage) -> None:
    backend, meter = Endless(), Watched(5.0)
    with contextlib.closing(Scheduler(backend, now=Ticking(), meter=meter)) as scheduler:
        held = scheduler.queue(job("endless", stage), silent, NEVER, owner="attacker")
        more = scheduler.queue(job("more", stage), silent, NEVER, owner="attacker")
        for number in range(MOST_TURNS):
            assert backend.begun.wait(seconds(30))
            assert not held.done()
            backend.begun.clear()
            mine = [scheduler.queue(job(f"mine {number}", stage), silent, NEVER, owner="me") for _ in range(2)]
            assert [each.result(seconds(30)).verdict for each in mine] == [Verdict.CRASHED] * 2
        assert held.result(seconds(30)).verdict is Verdict.CANCELLED
        assert "others who wait" in held.result().reason
        assert more.result(seconds(30)).verdict is Verdict.CRASHED
    assert [each.subgraph.id for each in backend.jobs] == [f"mine {each // 2}" for each in range(2 * MOST_TURNS)] + [
        "more"
    ]
    assert meter.charged["attacker"] > meter.patience


def test_what_has_to_let_others_go_first_can_be_cancelled_while_it_waits() -> None:
    backend, gate, cancelled = Endless(), Gate(), threading.Event()

    def held_up(turn: JudgeTurn) -> None:
        gate(job("mine"))

    with contextlib.closing(Scheduler(backend, now=Ticking(), meter=Watched(5.0))) as scheduler:
        held = scheduler.queue(job("endless"), silent, cancelled, owner="attacker")
        assert backend.begun.wait(seconds(30))
        scheduler.put(Work("me", None, held_up), light=False)
        assert gate.entered.acquire(timeout=seconds(30))
        cancelled.set()
        gate.opened.set()
        assert held.result(seconds(30)).verdict is Verdict.CANCELLED
        assert held.result().reason.startswith("Cancelled before")


def test_who_holds_a_judge_alone_goes_on_and_is_charged_meanwhile() -> None:
    backend, meter, cancelled = Endless(), Watched(5.0), threading.Event()
    with contextlib.closing(Scheduler(backend, now=Ticking(), meter=meter)) as scheduler:
        held = scheduler.queue(job("endless"), silent, cancelled, owner="one")
        assert meter.has_charged("one")
        more = scheduler.queue(job("more"), silent, NEVER, owner="one")
        meter.charged.clear()
        assert meter.has_charged("one")
        assert not held.done()
        cancelled.set()
        assert held.result(seconds(30)).reason == "Cancelled while it ran."
        assert more.result(seconds(30)).verdict is Verdict.CRASHED


def test_who_has_used_no_more_than_others_is_not_ended_for_them() -> None:
    gate, clock, meter = Gate(), Ticking(), Watched(math.inf)
    found: list[Outcome] = []
    with contextlib.closing(Scheduler(FakeBackend(gate), now=clock, meter=meter)) as scheduler:
        threads = [started(scheduler, "a", job("first"), found)]
        assert gate.entered.acquire(timeout=seconds(30))
        threads.append(started(scheduler, "b", job("second"), found))
        queued(scheduler, 1)
        meter.charged.clear()
        assert meter.has_charged("a")
        gate.opened.set()
        for each in threads:
            each.join(seconds(30))
    assert [each.verdict for each in found] == [Verdict.CRASHED] * 2
