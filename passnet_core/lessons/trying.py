"""Try a lesson out: its solution gets all stars, its start does not, and each mistake gets its own comment."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from passnet_core.lessons.grading import Grade, graded
from passnet_core.lessons.lesson import Lesson, Mistake, said
from passnet_core.lessons.reading import MISTAKES, SOLUTION, START
from passnet_core.records import Bundle, Outcome

Judge = Callable[[Bundle], Sequence[Outcome]]
"""Judges a bundle on all subgraphs of the lesson."""

MOST_S = 5.0
"""The most seconds that a grade may take."""


@dataclass(frozen=True)
class TriedBundle:
    """One bundle of a lesson, graded. place: its folder in the lesson's. problem: what the lesson should do otherwise,
    in a sentence; empty: nothing."""

    place: str
    bundle: Bundle
    grade: Grade
    outcomes: tuple[Outcome, ...]
    problem: str = ""

    @property
    def wall_s(self) -> float:
        return sum(each.wall_s for each in self.outcomes)


def trials(lesson: Lesson, judge: Judge) -> Iterator[TriedBundle]:
    """Grade every bundle of a lesson, and yield each as soon as it is judged."""
    yield _trial(lesson, SOLUTION, lesson.solution, judge, _of_solution)
    yield _trial(
        lesson, START, lesson.start, judge, lambda grade: "The start gets all stars already." if grade.passed else ""
    )
    yield from of_mistakes(lesson, lesson.mistakes, judge)


def of_mistakes(lesson: Lesson, mistakes: Sequence[Mistake], judge: Judge) -> Iterator[TriedBundle]:
    """Grade the bundles of these mistakes in a lesson."""
    for mistake in mistakes:

        def problem(grade: Grade, expected: str = mistake.name) -> str:
            if grade.passed:
                return "It gets all stars, so it is no mistake."
            shown = grade.mistake.name if grade.mistake else "none"
            return "" if shown == expected else f"It gets the comment of {shown!r}. Change the symptoms."

        yield _trial(lesson, f"{MISTAKES}/{mistake.name}", mistake.bundle, judge, problem)


def _trial(lesson: Lesson, place: str, bundle: Bundle, judge: Judge, problem: Callable[[Grade], str]) -> TriedBundle:
    outcomes = tuple(judge(bundle))
    grade = graded(lesson, outcomes)
    found = f"The judge could not grade it: {grade.ungraded}" if grade.ungraded else problem(grade)
    return TriedBundle(place, bundle, grade, outcomes, found)


def _of_solution(grade: Grade) -> str:
    if grade.passed:
        return ""
    return f"The solution lacks the stars {', '.join(grade.missing)}."


def symptoms_seen(trial: TriedBundle) -> Iterator[str]:
    """What the judge found, in the words by which symptoms can be told: for authors of lessons."""
    for each in trial.outcomes:
        yield f"{each.subgraph_id}: verdict {each.verdict.value!r}"
        yield from (f"  rule {found.rule!r}" for found in each.findings)
        for found in each.match.passes if each.match else ():
            if found.miss:
                yield f"  miss {found.miss.kind.value!r}"
        yield from (
            f"  inputs {list(found.failed_sets)}"
            for found in (each.accuracy.outputs if each.accuracy else ())
            if found.failed_sets
        )
        yield from (f"  says {text.strip().splitlines()[-1]!r}" for text in said(each) if text.strip())
