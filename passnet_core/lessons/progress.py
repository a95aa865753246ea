"""How far somebody has come in the course, told from their runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import Grade, graded
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import Outcome, Run, Stage
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile


@dataclass(frozen=True)
class GradedRun:
    """A finished run of a lesson, with its grade."""

    lesson: Lesson
    run: Run
    grade: Grade


@dataclass(frozen=True)
class FinishedRun:
    """A run whose jobs all have outcomes. accepted: whether all of these are accepted."""

    run: Run
    accepted: bool


def reached(
    course: Course, runs: Iterable[FinishedRun], outcomes: Callable[[str], tuple[Outcome, ...]]
) -> Mapping[str, GradedRun]:
    """The attempt that counts for each lesson, by the lesson's id: the first that got all stars, or else the newest.

    runs: of one person, oldest first. outcomes: returns those of a run; it is asked for no more than is needed."""
    found: dict[str, GradedRun] = {}
    newest: dict[str, FinishedRun] = {}
    for each in runs:
        lesson = course.of_task(each.run.task_ids[0]) if len(each.run.task_ids) == 1 else None
        if lesson is None or lesson.id in found or each.run.spec.stage is Stage.CHECK:
            continue
        newest[lesson.id] = each
        if each.accepted and (grade := graded(lesson, outcomes(each.run.id))).passed:
            found[lesson.id] = GradedRun(lesson, each.run, grade)
    for lesson_id, each in newest.items():
        if lesson_id not in found:
            lesson = course.lesson(lesson_id)
            found[lesson_id] = GradedRun(lesson, each.run, graded(lesson, outcomes(each.run.id)))
    return found


def handed_in(course: Course, text: str) -> list[tuple[Lesson, RunFile]]:
    """The runs of lessons in an exported file, with their passes. Raises BadInput that names the line."""
    files = [each for each in exchange.read(text.splitlines()) if each.bundles]
    named = [(course.of_task(each.run.task_ids[0]), each) for each in files]
    return [(lesson, each) for lesson, each in named if lesson is not None]


def next_lesson(course: Course, attempts: Mapping[str, GradedRun]) -> Lesson | None:
    """The first lesson that is not passed, or None if all are."""
    return next(
        (each for each in course.lessons if each.id not in attempts or not attempts[each.id].grade.passed), None
    )
