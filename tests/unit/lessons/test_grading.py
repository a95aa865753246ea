"""Grading: stars and comments told from what the judge found."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.jobs import jobs_of, new_run
from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import Grade, graded
from passnet_core.lessons.lesson import Lesson, Mistake, Star, Symptoms
from passnet_core.lessons.progress import FinishedRun, next_lesson, reached
from passnet_core.lessons.trying import trials
from passnet_core.records import EXECUTED, Bundle, EvalSpec, Evidence, Outcome, Stage, Verdict
from tests.example_playground import LESSONS, answer, outcome, write_data

VERIFY = EvalSpec(stage=Stage.VERIFY)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    data = write_data(tmp_path_factory.mktemp("data"), recorded=False)
    return Course([data / "lessons"], Corpus([data / "tasks"]))


@pytest.fixture(scope="module")
def lesson(course: Course) -> Lesson:
    return course.lesson(LESSONS[0])


def judged(lesson: Lesson, *verdicts: Verdict, stage: Stage = Stage.VERIFY) -> list[Outcome]:
    """An outcome with each verdict, for the lesson's subgraphs in their order."""
    jobs = jobs_of(lesson.task, lesson.solution, replace(VERIFY, stage=stage), None)
    return [outcome(job, verdict) for job, verdict in zip(jobs, verdicts)]


def test_all_stars_need_every_subgraph(lesson: Lesson) -> None:
    assert graded(lesson, judged(lesson, Verdict.VALUES_ONLY, Verdict.VALUES_ONLY)).passed
    alone = graded(lesson, judged(lesson, Verdict.VALUES_ONLY))
    assert alone.stars == lesson.stars
    assert not alone.passed
    kept_back = graded(lesson, judged(lesson, Verdict.VALUES_ONLY, Verdict.WRONG_VALUES))
    assert kept_back.stars == (Star.RULES, Star.MATCH)
    assert not graded(lesson, []).passed


@pytest.mark.parametrize(
    ("verdict", "stars"),
    [
        (Verdict.NO_MATCH, [Star.RULES]),
        (Verdict.CRASHED, [Star.RULES, Star.MATCH]),
        (Verdict.LIBRARY, [Star.RULES, Star.MATCH, Star.VALUES]),
        (Verdict.INCONCLUSIVE, [Star.RULES, Star.MATCH, Star.VALUES]),
    ],
)
def test_each_star_needs_the_ones_before(lesson: Lesson, verdict: Verdict, stars: list[Star]) -> None:
    assert list(graded(lesson, judged(lesson, verdict, Verdict.VALUES_ONLY)).stars) == stars


def test_a_check_earns_the_first_stars_and_shows_no_mistake(lesson: Lesson) -> None:
    found = graded(lesson, judged(lesson, Verdict.MATCHED, stage=Stage.CHECK))
    assert found == Grade((Star.RULES, Star.MATCH), (Star.VALUES, Star.KERNELS), None, complete=False)


def test_what_says_nothing_of_the_passes_gives_no_grade(lesson: Lesson) -> None:
    for verdict in (Verdict.INFRASTRUCTURE, Verdict.CANCELLED, Verdict.NEEDS_GPU, Verdict.EAGER_FAILED):
        found = graded(lesson, judged(lesson, verdict, Verdict.VALUES_ONLY))
        assert found.ungraded
        assert not found.passed
        assert not found.stars


def test_the_star_of_traffic_compares_bytes_with_the_least(lesson: Lesson) -> None:
    strict = replace(lesson, without=())

    def found(moved: float) -> Grade:
        figures = (("launches", 1.0), ("moved_bytes", moved), ("least_bytes", 100.0))
        right = judged(lesson, Verdict.VALUES_ONLY, Verdict.VALUES_ONLY)
        return graded(strict, [replace(each, evidence=(Evidence(EXECUTED, "", figures),)) for each in right])

    assert found(105.0).passed
    assert found(106.0).missing == (Star.TRAFFIC,)
    assert graded(strict, judged(lesson, Verdict.VALUES_ONLY, Verdict.VALUES_ONLY)).missing == (Star.TRAFFIC,)


def test_the_first_mistake_that_fits_counts_and_kept_back_ones_only_after_the_shown(lesson: Lesson) -> None:
    def mistakes(*symptoms: Symptoms) -> Lesson:
        made = tuple(Mistake(str(at), each, "", Path()) for at, each in enumerate(symptoms))
        return replace(lesson, mistakes=made)

    of = mistakes(
        Symptoms(kept_back=True),
        Symptoms(verdicts=(Verdict.WRONG_VALUES,), says="2[.]5"),
        Symptoms(star=Star.MATCH),
        Symptoms(inputs=("typical",)),
    )

    def name(*verdicts: Verdict) -> str | None:
        shown = graded(of, judged(lesson, *verdicts)).mistake
        return shown.name if shown else None

    assert name(Verdict.WRONG_VALUES, Verdict.WRONG_VALUES) == "1"
    assert name(Verdict.VALUES_ONLY, Verdict.WRONG_VALUES) == "0"
    assert name(Verdict.NO_MATCH, Verdict.NO_MATCH) == "2"
    assert name(Verdict.CRASHED, Verdict.CRASHED) is None
    assert name(Verdict.VALUES_ONLY, Verdict.VALUES_ONLY) is None


def test_a_lesson_is_tried_out_with_all_its_passes(lesson: Lesson) -> None:
    def judge(bundle: Bundle) -> list[Outcome]:
        return [answer(job) for job in jobs_of(lesson.task, bundle, VERIFY, None)]

    found = {each.place: each.problem for each in trials(lesson, judge)}
    assert found == {"solution": "", "start": "", "mistakes/no_match": "", "mistakes/values": ""}
    mixed = replace(lesson, mistakes=tuple(reversed([replace(each, symptoms=Symptoms()) for each in lesson.mistakes])))
    told = {each.place: each.problem for each in trials(mixed, judge)}
    assert "gets the comment of 'values'" in told["mistakes/no_match"]
    broken = replace(lesson, solution=lesson.start, start=lesson.solution)
    told = {each.place: each.problem for each in trials(broken, judge)}
    assert "lacks the stars match, values, kernels" in told["solution"]
    assert "all stars already" in told["start"]


def test_the_first_passed_run_counts_and_else_the_newest(course: Course, lesson: Lesson) -> None:
    kept: dict[str, tuple[Outcome, ...]] = {}

    def run(*verdicts: Verdict) -> FinishedRun:
        made = new_run(jobs_of(lesson.task, lesson.solution, VERIFY, None))
        kept[made.id] = tuple(judged(lesson, *verdicts))
        return FinishedRun(made, all(each.accepted for each in verdicts))

    wrong, right, later = (
        run(each, Verdict.VALUES_ONLY) for each in (Verdict.NO_MATCH, Verdict.VALUES_ONLY, Verdict.WRONG_VALUES)
    )
    assert reached(course, [wrong, right, later], kept.__getitem__)[lesson.id].run is right.run
    found = reached(course, [wrong, later], kept.__getitem__)
    assert found[lesson.id].run is later.run
    assert next_lesson(course, found) is lesson
    assert next_lesson(course, reached(course, [right], kept.__getitem__)) is course.lessons[1]
