"""Boards that many people ask for at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from passnet_core.leaderboard.shared_boards import SharedAnswers
from tests.waiting import seconds


def test_who_asks_at_the_same_time_gets_the_one_answer() -> None:
    shared, go_on, computed = SharedAnswers[object](8), threading.Event(), []

    def compute() -> object:
        assert go_on.wait(seconds(60))
        computed.append(object())
        return computed[-1]

    with ThreadPoolExecutor(10) as at_once:
        answers = [at_once.submit(shared.of, "me", 1, compute) for _ in range(10)]
        assert shared.of("you", 1, lambda: "quick") == "quick", "others do not wait for it"
        go_on.set()
        assert {answer.result(seconds(60)) for answer in answers} == set(computed)
    assert len(computed) == 1
    assert shared.of("me", 1, compute) is computed[0]
    assert shared.of("me", 2, compute) is computed[1], "something was measured"


def test_an_error_is_told_and_not_kept() -> None:
    shared = SharedAnswers[str](8)
    with pytest.raises(ZeroDivisionError):
        shared.of("me", 1, lambda: str(1 // 0))
    assert shared.of("me", 1, lambda: "mended") == "mended"


def test_only_so_many_answers_are_kept() -> None:
    shared = SharedAnswers[int](2)
    for number in range(5):
        shared.of(number, 1, lambda number=number: number)  # type: ignore[misc]
    assert [shared.of(number, 1, lambda: -1) for number in (3, 4)] == [3, 4]
    assert shared.of(0, 1, lambda: -1) == -1
