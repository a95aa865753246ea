"""pass@k by tasks, and the gain of one solver over another."""

from dataclasses import replace
from typing import Any

import pytest

from passnet_core.errors import EmptyScore
from passnet_core.leaderboard.pass_at_k import attempt_tallies, chance, gain_at, pass_at
from passnet_core.records import EvalSpec, Stage
from passnet_core.records.trajectories import DEFAULT_BUDGET, FREE, End, Ending, Opening, Trajectory


@pytest.mark.parametrize(
    ("made", "solved", "k", "expected"),
    [(4, 0, 1, 0.0), (4, 1, 1, 0.25), (4, 4, 2, 1.0), (4, 2, 2, 1 - 1 / 6), (5, 3, 3, 1.0), (10, 3, 5, 1 - 21 / 252)],
)
def test_a_chance_is_the_share_of_choices_with_a_solved_attempt(
    made: int, solved: int, k: int, expected: float
) -> None:
    assert chance(made, solved, k) == pytest.approx(expected)


def test_too_few_attempts_have_no_chance() -> None:
    with pytest.raises(EmptyScore, match="at least 3 attempts"):
        chance(2, 1, 3)
    with pytest.raises(EmptyScore, match="no task"):
        pass_at(1, {})


def test_a_gain_is_paired_by_task_and_has_an_interval() -> None:
    before = {f"t{number}": (4, number % 2) for number in range(40)} | {"only": (4, 4)}
    after = {f"t{number}": (4, 1 + number % 2) for number in range(40)}
    assert pass_at(1, after).value == pytest.approx(0.375)
    gain = gain_at(1, before, after)
    # each task gained as much, however unlike tasks are
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.25, 0.25, 0.25))
    found = pass_at(1, after)
    assert found.low < found.value < found.high
    assert pass_at(1, after) == found


def attempt(task: str, accepted: int, end: End = End.FINISHED, **changed: Any) -> Trajectory:
    opening = Opening(
        id=task, task_id=task, split="eval", operators=(), subgraphs=("s", "u"), model="ours", prompts="",
        spec=EvalSpec(), budget=DEFAULT_BUDGET, price=FREE, started_at="", device="H200",
    )  # fmt: skip
    return Trajectory(replace(opening, **changed), (), Ending(end, "", 1, 1, 0.0, accepted, 2, None, ()))


def test_only_whole_tasks_count_and_failures_of_the_server_do_not() -> None:
    other = attempt("a", 2, spec=EvalSpec(stage=Stage.MEASURE))
    found = attempt_tallies(
        [
            attempt("a", 2), attempt("a", 1), attempt("b", 2), attempt("b", 2, End.SERVER), other,
            attempt("a", 0, model="theirs"), replace(attempt("c", 2), ending=None),
        ]
    )  # fmt: skip
    assert [(each.solver, each.stage, dict(each.attempts)) for each in found] == [
        ("ours", Stage.VERIFY, {"a": (2, 1), "b": (1, 1)}),
        ("ours", Stage.MEASURE, {"a": (1, 1)}),
        ("theirs", Stage.VERIFY, {"a": (1, 0)}),
    ]
    assert found[0].fewest == 1
