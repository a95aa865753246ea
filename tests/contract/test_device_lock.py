"""Several judges on one machine: a judge that measures has the device, and a core, to itself."""

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from passnet_core.judge.supervisor import device_lock
from passnet_core.judge.supervisor.device_lock import DeviceLock, steady_core
from tests.waiting import seconds


class Judge:
    """A judge that uses the device in a thread until it is told to end. waits: it reported that it waits. in_use: it
    has the device."""

    def __init__(self, home: Path, use: str) -> None:
        self.waits, self.in_use, self.told_to_end = threading.Event(), threading.Event(), threading.Event()
        self.lock = DeviceLock(home, lambda text: self.waits.set())
        self.thread = threading.Thread(target=self._use, args=(use,), daemon=True)
        self.thread.start()

    def _use(self, use: str) -> None:
        with getattr(self.lock, use)():
            self.in_use.set()
            self.told_to_end.wait(seconds(20))

    def end(self) -> None:
        self.told_to_end.set()
        self.thread.join(seconds(20))
        assert not self.thread.is_alive()


Begin = Callable[[str], Judge]


@pytest.fixture
def judges(tmp_path: Path) -> Iterator[Begin]:
    begun: list[Judge] = []

    def begin(use: str) -> Judge:
        begun.append(Judge(tmp_path, use))
        return begun[-1]

    yield begin
    for each in begun:
        each.end()


def test_no_judge_computes_while_another_measures(judges: Begin) -> None:
    one = judges("alone")
    assert one.in_use.wait(seconds(20))
    others = [judges(use) for use in ("shared", "alone")]
    for other in others:
        assert other.waits.wait(seconds(20))
        assert not other.in_use.is_set()
    one.end()
    for other in others:
        other.told_to_end.set()
    for other in others:
        assert other.in_use.wait(seconds(20)), "either may be next"


def test_judges_that_compute_share_the_device(judges: Begin) -> None:
    first, second = judges("shared"), judges("shared")
    assert first.in_use.wait(seconds(20))
    assert second.in_use.wait(seconds(20))


def test_a_judge_that_waits_to_measure_precedes_later_requests(judges: Begin) -> None:
    first = judges("shared")
    assert first.in_use.wait(seconds(20))
    measuring = judges("alone")
    assert measuring.waits.wait(seconds(20))
    later = judges("shared")
    assert later.waits.wait(seconds(20)), "otherwise judges that compute could keep it waiting for ever"
    first.end()
    assert measuring.in_use.wait(seconds(20))
    assert not later.in_use.is_set()
    measuring.end()
    assert later.in_use.wait(seconds(20))


def test_a_judge_that_pauses_lets_another_measure(judges: Begin, tmp_path: Path) -> None:
    lock = DeviceLock(tmp_path, lambda text: None)
    with lock.shared():
        with lock.paused():
            measuring = judges("alone")
            assert measuring.in_use.wait(seconds(20))
            lock.waiting = lambda text: measuring.told_to_end.set()
        assert measuring.told_to_end.is_set(), "the pause ends only when the other has measured"
        last = judges("alone")
        assert last.waits.wait(seconds(20))


def test_a_failure_in_a_pause_does_not_wait_for_the_device(judges: Begin, tmp_path: Path) -> None:
    lock = DeviceLock(tmp_path, lambda text: pytest.fail(text))

    def fail() -> None:
        with lock.shared(), lock.paused():
            assert judges("alone").in_use.wait(seconds(20))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def _hold(home: Path, has_it: Event) -> None:
    with DeviceLock(home, lambda text: None).alone():
        has_it.set()
        threading.Event().wait(seconds(20))


def test_a_killed_judge_releases_the_device(judges: Begin, tmp_path: Path) -> None:
    started = multiprocessing.get_context("spawn")
    has_it = started.Event()
    killed = started.Process(target=_hold, args=(tmp_path, has_it), daemon=True)
    killed.start()
    assert has_it.wait(seconds(20))
    other = judges("alone")
    assert other.waits.wait(seconds(20))
    killed.kill()
    assert other.in_use.wait(seconds(20))


def test_without_a_device_no_judge_waits() -> None:
    first, second = (DeviceLock(None, lambda text: None) for _ in range(2))
    with first.alone(), second.alone(), second.shared():
        pass


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(1000, 1008)))
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: None)


@pytest.mark.usefixtures("eight_cores")
def test_no_two_judges_claim_the_same_core() -> None:
    with contextlib.ExitStack() as judges:
        cores = list(filter(None, (judges.enter_context(steady_core()) for _ in range(8))))
        assert sorted(cores) == list(range(1000, 1008))
        with steady_core() as one_too_many:
            assert one_too_many in cores, "if all cores are claimed, one is shared"
    with contextlib.ExitStack() as judges:
        cores = list(filter(None, (judges.enter_context(steady_core()) for _ in range(8))))
        assert sorted(cores) == list(range(1000, 1008))


@pytest.mark.usefixtures("eight_cores")
def test_no_two_judges_claim_threads_of_the_same_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_lock, "_first_half", lambda core: core - core % 2)
    with contextlib.ExitStack() as judges:
        cores = list(filter(None, (judges.enter_context(steady_core()) for _ in range(4))))
        assert sorted(core // 2 for core in cores) == [500, 501, 502, 503]


def test_a_machine_with_few_cores_claims_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    with steady_core() as core:
        assert core is None
