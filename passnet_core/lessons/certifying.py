"""Certificates: which passes somebody has passed the course with, so that anybody can have them judged again."""

from collections.abc import Callable, Mapping

from passnet_core.errors import BadInput
from passnet_core.lessons.course import Course
from passnet_core.lessons.progress import GradedRun, next_lesson
from passnet_core.records import Outcome
from passnet_core.store.rows import Certificate, PassedLesson


def certificate_of(
    holder: str, course: Course, attempts: Mapping[str, GradedRun], outcomes: Callable[[str], tuple[Outcome, ...]]
) -> Certificate:
    """The certificate of somebody with these attempts. outcomes: returns those of a run. Raises BadInput if a lesson is
    not passed."""
    if (lacking := next_lesson(course, attempts)) is not None:
        raise BadInput(f"The lesson {lacking.title!r} is not passed yet. Earn its stars, then ask for a certificate.")
    if not attempts:
        raise BadInput("There are no lessons here.")
    return Certificate(holder, tuple(_passed(attempts[each.id], outcomes) for each in course.lessons))


def _passed(attempt: GradedRun, outcomes: Callable[[str], tuple[Outcome, ...]]) -> PassedLesson:
    found = outcomes(attempt.run.id)
    environment = found[0].environment
    return PassedLesson(
        lesson_id=attempt.lesson.id,
        title=attempt.lesson.title,
        run_id=attempt.run.id,
        bundle_digest=attempt.run.bundle_digest or "",
        verdicts=tuple(each.verdict for each in found),
        judge_digest=environment.judge_digest if environment else "",
        finished_at=max(each.finished_at for each in found),
    )
