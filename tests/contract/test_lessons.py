"""The lessons before the real judge: each solution gets all stars, its start does not, each mistake its comment."""

import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from pages.ui.help_chapters import CHAPTERS
from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import lesson_spec
from passnet_core.lessons.lesson import Lesson
from passnet_core.lessons.reading import shortcomings
from passnet_core.lessons.trying import Judge, TriedBundle, of_mistakes, symptoms_seen, trials
from passnet_core.records import ONLY_CHECKED, UNJUDGED, UNTIMED, Bundle, Outcome, Verdict
from tests.contract.judging import ample_s

DATA = Path(__file__).resolve().parents[2] / "data"
COURSE = Course([DATA / "lessons"], Corpus([DATA / "tasks"]))
LESSONS = tuple(sorted(path.parent for path in (DATA / "lessons").glob("*/lesson.toml")))
GENERAL = DATA / "lessons" / "mistakes"
"""The mistakes that can be made in any lesson."""
SEED = 7
"""Of the inputs: on how many of them an output is wrong may depend on it, and a few symptoms on that."""


def judging(backend: LocalBackend, lesson: Lesson) -> Judge:
    def judge(bundle: Bundle) -> list[Outcome]:
        jobs = jobs_of(lesson.task, bundle, replace(lesson_spec(), seed=SEED, deadline_s=ample_s()), None)
        return [backend.run(job, lambda event: None, threading.Event()) for job in jobs]

    return judge


def assert_as_it_should_be(found: Iterable[TriedBundle]) -> None:
    for each in found:
        assert not each.problem, f"{each.place}: {each.problem}\n" + "\n".join(symptoms_seen(each))


def test_there_are_fourteen_lessons_and_three_checkpoints() -> None:
    assert COURSE.problems == ()
    assert [each.number for each in COURSE.lessons if not each.checkpoint] == list(range(1, 15))
    assert sum(each.checkpoint for each in COURSE.lessons) == 3
    known = {each.id for each in COURSE.lessons}
    for lesson in COURSE.lessons:
        assert known.union(CHAPTERS) >= set(lesson.further), lesson.id


def test_every_verdict_that_a_lesson_is_about_leads_to_it() -> None:
    needs_none = UNJUDGED | ONLY_CHECKED | UNTIMED | {Verdict.EAGER_FAILED}
    unexplained = {each for each in Verdict if COURSE.explaining_word(each) is None}
    assert unexplained == needs_none


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_a_lesson_has_all_that_a_lesson_needs(folder: Path) -> None:
    assert shortcomings(COURSE.read(folder)) == []


@pytest.mark.settled
@pytest.mark.parametrize("judged_lesson", LESSONS, ids=lambda folder: folder.name)
def test_solution_start_and_mistakes_get_their_grades(backend: LocalBackend, judged_lesson: Path) -> None:
    lesson = COURSE.read(judged_lesson)
    assert_as_it_should_be(trials(lesson, judging(backend, lesson)))


@pytest.mark.settled
@pytest.mark.parametrize("judged_lesson", [GENERAL], ids=["any lesson"])
def test_the_mistakes_of_any_lesson_get_their_comments(backend: LocalBackend, judged_lesson: Path) -> None:
    mistakes, place = COURSE.general
    lesson = COURSE.lesson(place)
    assert_as_it_should_be(of_mistakes(lesson, mistakes, judging(backend, lesson)))
