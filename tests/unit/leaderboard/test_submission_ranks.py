"""Submissions on boards: one solver each, however many bundles they have."""

from dataclasses import replace

import pytest

from passnet_core.leaderboard.boards import TELLING
from passnet_core.leaderboard.submission_ranks import RowsOf, boards_with_submissions, figures_of, rows_of
from passnet_core.leaderboard.submissions import (
    BoardEntry,
    JudgingRound,
    Submission,
    judgement_of,
    retraction,
)
from passnet_core.records import BASELINE_NAMES, Baseline, Outcome, SolverKind, Verdict
from passnet_core.store.rows import ScoreRow
from tests.contract.made import job, outcome

AT = "2026-01-02T03:04:05+00:00"
INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]
TASKS = [f"task-{number:02}" for number in range(TELLING + 2)]


def judged(speedup: float) -> dict[str, tuple[Outcome, ...]]:
    """The outcomes of one run for each task."""
    return {
        f"run-{speedup}-{task_id}": (outcome(job(task_id=task_id), Verdict.FASTER, speedup=speedup),)
        for task_id in TASKS
    }


def entry(runs: dict[str, tuple[Outcome, ...]], submission_id: str = "id-1", version: int = 1) -> BoardEntry:
    outcomes = [each for found in runs.values() for each in found]
    bundles = tuple((task_id, f"digest-{task_id}") for task_id in TASKS)
    made = Submission(submission_id, "Fast", version, "ann", "AB12", "", bundles, AT)
    named = tuple(zip(TASKS, runs))
    return BoardEntry(made, (JudgingRound(1, named, AT, judgement_of(outcomes, len(outcomes))),))


def rows_by_run(runs: dict[str, tuple[Outcome, ...]]) -> RowsOf:
    return lambda run_id: rows_of(runs[run_id], run_id)


def inductor() -> list[ScoreRow]:
    """TorchInductor on all tasks but the first, where its times were too unsteady."""
    rows = [row for each in judged(0.8).values() for row in rows_of(each, "recorded")]
    return [
        replace(each, solver=SolverKind.INDUCTOR, bundle_digest=None, baseline=Baseline.INDUCTOR) for each in rows[1:]
    ]


def test_bundles_for_many_tasks_meet_inductor_as_one_solver_where_both_were_scored() -> None:
    runs = judged(1.5)
    runs[[*runs][-1]] = (outcome(job(task_id=TASKS[-1]), Verdict.INCONCLUSIVE),)
    found = boards_with_submissions(inductor(), [entry(runs)], rows_by_run(runs), names={}, totals={})
    (board,) = [each for each in found if len(each.contestants) == 2]
    assert {each.name for each in board.contestants} == {"anonymous AB12: Fast, version 1", INDUCTOR}
    assert board.task_ids == tuple(TASKS[1:-1])
    (mine,) = [each for each in board.contestants if each.name != INDUCTOR]
    assert {each.bundle_digest for each in mine.rows} == {f"digest-{each}" for each in TASKS[1:-1]}
    assert mine.bundle_digest is None, "it has several"


def test_the_newest_version_is_ranked_and_what_was_taken_back_is_not() -> None:
    old, new = judged(1.2), judged(1.5)
    runs, entries = {**old, **new}, [entry(new, "id-2", 2), entry(old)]
    for each, version in (
        (entries, 2),
        ([replace(entries[0], retraction=retraction("It is a copy.", at=AT, by="an operator")), entries[1]], 1),
    ):
        found = boards_with_submissions([], each, rows_by_run(runs), names={}, totals={})
        assert {line.name for board in found for line in board.contestants} == {
            f"anonymous AB12: Fast, version {version}"
        }
    (board,) = boards_with_submissions([], entries, rows_by_run(runs), task_id="task-03", names={}, totals={})
    assert board.task_ids == ("task-03",)


def test_what_was_not_scored_is_no_row_and_has_no_figures() -> None:
    runs = (outcome(job(), Verdict.INCONCLUSIVE), outcome(job(1), Verdict.INFRASTRUCTURE))
    assert rows_of(runs, "run") == ()
    assert figures_of(runs) == (None, None)
    timed = [outcome(job(number), Verdict.FASTER, speedup=1.5) for number in range(4)]
    score, mean = figures_of(timed)
    assert mean == pytest.approx((1.5, 1.5, 1.5))
    assert score is not None
    assert score[1] <= score[0] <= score[2]
    failed = [*timed, outcome(job(4), Verdict.CRASHED)]
    worse, _ = figures_of(failed)
    assert worse is not None
    assert worse[0] < score[0], "what failed counts"
