"""Checks while somebody types: the newest text wins, and nothing is judged twice."""

import threading
from collections.abc import Iterator

import pytest

from passnet_core.execution.backends.base import outcome_without_judge
from passnet_core.execution.live_checks import LiveChecks
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Job, Outcome, PassFile, Stage, Subgraph, TensorSpec, Verdict
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend
from tests.waiting import seconds


def typed(code: str, subgraph_id: str = "a", task_id: str = "task") -> Job:
    subgraph = Subgraph(subgraph_id, task_id, "none", "code", (TensorSpec("in_0", (2,), "float32"),))
    return Job(subgraph, Bundle((PassFile("one.py", code),)), EvalSpec(stage=Stage.CHECK))


class Checker(FakeBackend):
    """Answers every job, once it is let through."""

    def __init__(self) -> None:
        super().__init__(self.checked)
        self.entered, self.opened = threading.Semaphore(0), threading.Event()
        self.opened.set()
        self.verdict = Verdict.CRASHED

    def checked(self, job: Job) -> Outcome:
        self.entered.release()
        assert self.opened.wait(seconds(30))
        return outcome_without_judge(job, self.verdict, "as given", environment=FAKE_ENVIRONMENT)


@pytest.fixture
def checker() -> Checker:
    return Checker()


@pytest.fixture
def live(checker: Checker) -> Iterator[LiveChecks]:
    scheduler = Scheduler(checker)
    checks = LiveChecks(scheduler)
    yield checks
    checker.opened.set()
    checks.close()
    scheduler.close()


def test_equal_code_is_checked_once_and_answered_for_each_task(live: LiveChecks, checker: Checker) -> None:
    first = live.within(typed("one"), "me", seconds(30))
    again = live.within(typed("one", task_id="another"), "me", seconds(30))
    assert first is not None
    assert again is not None
    assert (first.task_id, again.task_id) == ("task", "another")
    assert len(checker.jobs) == 1


def test_what_was_checked_is_known_unless_the_machine_may_have_decided_it(live: LiveChecks, checker: Checker) -> None:
    assert live.known(typed("one")) is None
    live.within(typed("one"), "me", seconds(30))
    assert live.known(typed("one")) is None, "it crashed, perhaps for want of memory"
    checker.verdict = Verdict.EAGER_FAILED
    live.within(typed("two"), "me", seconds(30))
    known = live.known(typed("two", task_id="another"))
    assert known is not None
    assert (known.verdict, known.task_id) == (Verdict.EAGER_FAILED, "another")
    checker.opened.clear()
    assert live.within(typed("three"), "me", 0.0) is None
    assert live.known(typed("three")) is None, "it is under way"


def test_what_was_typed_over_is_never_checked(live: LiveChecks, checker: Checker) -> None:
    checker.opened.clear()
    assert live.within(typed("one"), "me", 0.0) is None
    assert checker.entered.acquire(timeout=seconds(30))
    assert live.within(typed("two"), "me", 0.0) is None
    assert live.within(typed("other"), "somebody else", 0.0) is None
    assert live.within(typed("three"), "me", 0.0) is None
    checker.opened.set()
    assert live.within(typed("three"), "me", seconds(30)) is not None
    assert live.within(typed("other"), "somebody else", seconds(30)) is not None
    judged = [job.bundle.passes[0].code for job in checker.jobs if job.bundle]
    assert sorted(judged) == ["one", "other", "three"]
    # somebody who goes back to it gets it checked
    assert live.within(typed("two"), "me", seconds(30)) is not None


def test_a_failure_of_the_system_is_told_and_tried_again(live: LiveChecks, checker: Checker) -> None:
    checker.verdict = Verdict.INFRASTRUCTURE
    failed = live.within(typed("one"), "me", seconds(30))
    assert failed is not None
    assert failed.verdict is Verdict.INFRASTRUCTURE
    checker.verdict = Verdict.CRASHED
    fine = live.within(typed("one"), "me", seconds(30))
    assert fine is not None
    assert fine.verdict is Verdict.CRASHED
