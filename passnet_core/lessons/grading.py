"""Grade passes in a lesson by what the judge found: stars, and the comment that fits a common mistake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passnet_core.bundles.static_rules.rules import DEVICE, WRAP
from passnet_core.lessons.lesson import Lesson, Mistake, Star
from passnet_core.records import (
    RIGHT,
    UNDECIDED,
    UNJUDGED,
    UNLOADED,
    UNREPLACED,
    Device,
    EvalSpec,
    Outcome,
    Stage,
    Verdict,
)
from passnet_core.records.outcomes import EXECUTED

MOST_TRAFFIC = 1.05
"""How many times the bytes of all inputs and outputs the launches may be given for the star of traffic."""

UNSEEN = frozenset({WRAP, DEVICE})
"""Rules that reject nothing, but whose fault does not show where the rewritten graph is called on a CPU."""


@dataclass(frozen=True)
class Grade:
    """What passes earned. missing: the other stars of the lesson. mistake: the common mistake that the outcomes show,
    or None. complete: whether every subgraph of the lesson was judged, and its values. ungraded: why there is no grade,
    if the judge could not say anything about the passes; empty otherwise."""

    stars: tuple[Star, ...]
    missing: tuple[Star, ...]
    mistake: Mistake | None = None
    complete: bool = True
    ungraded: str = ""

    @property
    def passed(self) -> bool:
        """Whether all stars are earned."""
        return self.complete and not self.missing and not self.ungraded


def lesson_spec() -> EvalSpec:
    """How passes in a lesson are judged: by their values on a CPU, so that everybody gets the same stars."""
    return EvalSpec(stage=Stage.VERIFY, device=Device.CPU, deadline_s=60.0)


def graded(lesson: Lesson, outcomes: Sequence[Outcome]) -> Grade:
    """Grade the passes by their outcomes in the lesson's task, in any order. Each subgraph has at most one."""
    by_id = {each.subgraph_id: each for each in outcomes if each.task_id == lesson.task.id}
    found = [by_id[each.id] for each in lesson.task.subgraphs if each.id in by_id]
    for each in found:
        if each.verdict in UNJUDGED | UNDECIDED | {Verdict.EAGER_FAILED}:
            return Grade((), lesson.stars, complete=False, ungraded=each.reason)
    # a check ends after the match, when the judge has not said all that it can say
    said = all(each.spec.stage is not Stage.CHECK or each.verdict is not Verdict.MATCHED for each in found)
    complete = said and len(found) == len(lesson.task.subgraphs)
    stars: list[Star] = []
    for star in lesson.stars if found else ():
        if not all(_earns(star, each) for each in found):
            break
        stars.append(star)
    missing = tuple(star for star in lesson.stars if star not in stars)
    return Grade(tuple(stars), missing, next(_shown_by(lesson, found), None), complete)


def _earns(star: Star, outcome: Outcome) -> bool:
    verdict = outcome.verdict
    match star:
        case Star.RULES:
            return verdict not in UNLOADED and not any(each.rule in UNSEEN for each in outcome.findings)
        case Star.MATCH:
            return verdict not in UNLOADED | UNREPLACED
        case Star.VALUES:
            return verdict in RIGHT | {Verdict.LIBRARY}
        case Star.KERNELS:
            return verdict in RIGHT - {Verdict.INCONCLUSIVE}
        case Star.TRAFFIC:
            figures = outcome.figures(EXECUTED)
            return bool(figures) and figures["moved_bytes"] <= MOST_TRAFFIC * figures["least_bytes"]


def _shown_by(lesson: Lesson, outcomes: Sequence[Outcome]) -> Iterator[Mistake]:
    """Yield the mistakes whose symptoms an outcome shows. One that is kept back counts if all shown ones are right."""
    lacking = [
        (each, star, each.subgraph_id in lesson.kept_back)
        for each in outcomes
        if each.verdict is not Verdict.MATCHED
        and (star := next((star for star in lesson.stars if not _earns(star, each)), None))
    ]
    shown = [each for each in lacking if not each[2]]
    # a rule says more than any other symptom, and the lesson itself more than what holds for all
    for mistake in sorted((*lesson.mistakes, *lesson.general), key=lambda each: not each.symptoms.rule):
        for outcome, star, kept_back in shown or lacking:
            if mistake.symptoms.fit(outcome, star=star, kept_back=kept_back):
                yield mistake
