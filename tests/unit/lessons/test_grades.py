"""Grades of a class: which run counts, what is late, and reasons that quote nobody's code."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.jobs import jobs_of, new_run
from passnet_core.lessons.course import Course
from passnet_core.lessons.grades import (
    ErrorCount,
    HandedIn,
    WorkState,
    attainment,
    cause,
    counts,
    lesson_run,
    task_run,
    typical_causes,
    typical_verdicts,
)
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import EvalSpec, Finding, Outcome, Profile, Run, Stage, Verdict
from tests.example_playground import LESSONS, REFERENCE, TASK_ID, outcome, task, write_data

DUE = datetime(2026, 3, 6, 17, tzinfo=UTC)
BEFORE, LATER = DUE.replace(hour=16), DUE.replace(hour=18)
VERIFY = EvalSpec(stage=Stage.VERIFY)


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    data = write_data(tmp_path_factory.mktemp("data"), recorded=False)
    return Course([data / "lessons"], Corpus([data / "tasks"])).lesson(LESSONS[0])


def handed(run_id: str, at: datetime, earned: int, *, passed: bool = False) -> HandedIn:
    return HandedIn(run_id, at, earned, passed, (), ())


def judged(verdicts: Sequence[Verdict], started: str = "2026-03-06T16:00:00.000+00:00") -> tuple[Run, list[Outcome]]:
    """A run of the task with these verdicts, which were known for a month."""
    jobs = jobs_of(task(), REFERENCE, VERIFY, None)
    outcomes = [outcome(job, verdict) for job, verdict in zip(jobs, verdicts)]
    return replace(new_run(jobs), started_at=started), outcomes


def test_the_best_run_in_time_is_the_grade_and_the_first_of_equals() -> None:
    found = attainment([handed("c", DUE, 3), handed("b", BEFORE, 3), handed("a", BEFORE.replace(hour=9), 1)], DUE, 4)
    assert (found.best and found.best.run_id, found.earned, found.percent) == ("b", 3, 75)
    assert (found.state, found.late, found.late_percent, found.runs) == (WorkState.ATTEMPTED, None, None, 3)


def test_what_ends_a_second_too_late_is_late_and_raises_no_grade() -> None:
    found = attainment([handed("a", BEFORE, 1), handed("b", DUE.replace(second=1), 4, passed=True)], DUE, 4)
    assert (found.state, found.percent) == (WorkState.ATTEMPTED, 25)
    assert (found.late_state, found.late_percent) == (WorkState.PASSED, 100)
    only_late = attainment([handed("b", LATER, 4, passed=True)], DUE, 4)
    assert (only_late.state, only_late.percent, only_late.late_percent) == (WorkState.NOT_BEGUN, 0, 100)


def test_late_runs_that_are_no_better_are_not_shown() -> None:
    found = attainment([handed("a", BEFORE, 2), handed("b", LATER, 2), handed("c", LATER, 1)], DUE, 4)
    assert (found.late, found.late_percent, found.runs) == (None, None, 3)


def test_nothing_is_nothing() -> None:
    found = attainment([], DUE, 4)
    assert (found.state, found.percent, found.late_percent, found.runs) == (WorkState.NOT_BEGUN, 0, None, 0)
    assert attainment([], DUE, 0).percent == 0


def test_all_but_one_of_many_is_not_a_hundred_percent() -> None:
    assert attainment([handed("a", BEFORE, 999)], DUE, 1000).percent == 99


def test_a_task_counts_accepted_subgraphs() -> None:
    half = task_run(TASK_ID, 2, *judged([Verdict.VALUES_ONLY, Verdict.WRONG_VALUES]))
    full = task_run(TASK_ID, 2, *judged([Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE]))
    one = task_run(TASK_ID, 2, *judged([Verdict.VALUES_ONLY]))
    found = [(each.earned, each.passed) for each in (half, full, one) if each]
    assert found == [(1, False), (2, True), (1, False)]
    assert task_run("another", 2, *judged([Verdict.VALUES_ONLY])) is None


def test_a_lesson_counts_stars_of_all_its_variants_together(lesson: Lesson) -> None:
    jobs = jobs_of(lesson.task, lesson.solution, VERIFY, None)
    right, wrong = ([outcome(job, verdict) for job in jobs] for verdict in (Verdict.VALUES_ONLY, Verdict.WRONG_VALUES))
    found = [lesson_run(lesson, new_run(jobs), each) for each in (right, wrong, right[:1])]
    assert [(each.earned, each.passed) for each in found if each] == [(4, True), (2, False), (0, False)]


def test_what_the_judge_could_not_judge_is_no_attempt() -> None:
    run, outcomes = judged([Verdict.CANCELLED, Verdict.INFRASTRUCTURE])
    assert task_run(TASK_ID, 2, run, outcomes) is None


def test_a_known_answer_is_as_late_as_the_run_that_asked_for_it() -> None:
    found = task_run(TASK_ID, 2, *judged([Verdict.VALUES_ONLY], "2026-03-06T18:00:00.000+00:00"))
    assert found is not None
    assert found.finished_at == LATER
    run, (known,) = judged([Verdict.VALUES_ONLY])
    slow = task_run(TASK_ID, 2, run, [replace(known, finished_at="2026-03-06T18:00:00+00:00")])
    assert slow is not None
    assert slow.finished_at == LATER


def test_checks_and_looser_rules_and_inductor_count_for_nothing() -> None:
    run, _ = judged([])
    assert counts(run)
    assert not counts(replace(run, spec=replace(VERIFY, stage=Stage.CHECK)))
    assert not counts(replace(run, spec=replace(VERIFY, profile=Profile.PASSNET)))
    assert not counts(new_run(jobs_of(task(), None, EvalSpec(stage=Stage.MEASURE), None)))


@pytest.mark.parametrize(
    ("verdict", "reason", "said"),
    [
        (Verdict.WRONG_VALUES, "Output 0 is wrong on wide inputs: 3 of 9. Look.", "Output 0 is wrong on wide inputs"),
        (Verdict.CRASHED, "It raised: mine.py line 3, in f: KeyError: 'SECRET'", "It raised: KeyError"),
        (Verdict.CRASHED, "It raised an exception: SecretError: my words", "It raised an exception"),
        (Verdict.DOES_NOT_LOAD, "SECRET.py line 3: SyntaxError: invalid syntax", "SyntaxError"),
        (Verdict.COMPILE_FAILED, "SECRET.py line 3: SECRET_kernel wants more", ""),
        (Verdict.TIMED_OUT, "The worker did not answer within 60 s.", "The worker did not answer within 60 s"),
        (Verdict.CHEAT, "It returned `SECRET", "It returned …"),
        (Verdict.CHEAT, "It returned 'SECRET: x' and \"SECRET\"", "It returned …"),
        (Verdict.LIBRARY, "It's not the bundle's own work", "It's not the bundle's own work"),
    ],
)  # fmt: skip
def test_a_reason_ends_before_it_quotes_a_pass(verdict: Verdict, reason: str, said: str) -> None:
    _, (judged_one,) = judged([verdict])
    assert cause(replace(judged_one, reason=reason)) == said


def test_rules_and_misses_are_told_by_their_kind() -> None:
    _, (missed,) = judged([Verdict.NO_MATCH])
    assert cause(missed) == "other operator"
    assert cause(replace(missed, match=replace(missed.match, passes=()))) == ""  # type: ignore[type-var]
    finding = Finding("SECRET.py", 3, 1, "no-torch-nn", "SECRET = torch.nn", "", fatal=True)
    assert cause(replace(missed, verdict=Verdict.REJECTED, findings=(finding,))) == "rule no-torch-nn"


def test_a_long_reason_is_shortened() -> None:
    _, (crashed,) = judged([Verdict.CRASHED])
    assert len(cause(replace(crashed, reason="x" * 5000))) == 120


def test_errors_are_counted_once_a_run_and_once_a_student() -> None:
    bad, odd = (Verdict.WRONG_VALUES, "Output 0 is wrong"), (Verdict.NO_MATCH, "")
    one, two, three = (replace(handed(name, BEFORE, 0), causes=(bad,)) for name in "abc")
    runs = {"ada": [one, two], "bob": [three, replace(handed("d", LATER, 0), causes=(bad, odd))], "cem": []}
    assert typical_verdicts(runs) == (ErrorCount("wrong values", 4, 2), ErrorCount("no match", 1, 1))
    assert typical_causes(runs) == (ErrorCount("wrong values: Output 0 is wrong", 4, 2), ErrorCount("no match", 1, 1))
    assert typical_verdicts({}) == ()


def test_a_failure_in_two_subgraphs_is_one() -> None:
    found = task_run(TASK_ID, 2, *judged([Verdict.WRONG_VALUES, Verdict.WRONG_VALUES]))
    assert found is not None
    assert found.causes == ((Verdict.WRONG_VALUES, "Output 0 differs from eager by 2.5"),)
