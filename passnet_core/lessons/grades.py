"""What students have reached in what a class is to do, told from verdicts and dates, and what usually goes wrong.

Nothing here holds code, nor words that somebody may have written into it: reasons are cut before they quote a pass."""

import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from passnet_core import outside
from passnet_core.lessons.grading import graded
from passnet_core.lessons.lesson import Lesson, misses
from passnet_core.records import (
    RIGHT,
    UNDECIDED,
    UNJUDGED,
    UNLOADED,
    UNREPLACED,
    Outcome,
    Profile,
    Run,
    SolverKind,
    Stage,
    Verdict,
)

LONGEST_CAUSE = 120
NAMES_CODE = UNLOADED | UNREPLACED | {Verdict.COMPILE_FAILED}
"""Verdicts whose reasons may begin with names or lines of the passes."""
_QUOTED = re.compile(r"""`[^`]*(`|$)|(?<!\w)'[^']*('|$)|"[^"]*("|$)""")
_RAISED = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_ENDS = re.compile(r": |\. |\.$|\n")


class WorkState(StrEnum):
    NOT_BEGUN = "not begun"
    ATTEMPTED = "attempted"
    PASSED = "passed"


@dataclass(frozen=True)
class HandedIn:
    """A finished run of what is assigned. earned: stars of a lesson, or accepted subgraphs of a task. verdicts: of its
    outcomes. causes: for each kind of failure in it, the verdict and a few words on why."""

    run_id: str
    finished_at: datetime
    earned: int
    passed: bool
    verdicts: tuple[Verdict, ...]
    causes: tuple[tuple[Verdict, str], ...]


@dataclass(frozen=True)
class Attainment:
    """What a student has reached in an assignment. earned of total: stars of a lesson, or accepted subgraphs of a task,
    in the best run that had finished when it was due, which is the grade. best: this run, or None. late: the best run
    that finished later, if it is better, or None. runs: how many there are, late ones too."""

    total: int
    best: HandedIn | None
    late: HandedIn | None
    runs: int

    @property
    def earned(self) -> int:
        return self.best.earned if self.best else 0

    @property
    def state(self) -> WorkState:
        return _state(self.best)

    @property
    def late_state(self) -> WorkState:
        return _state(self.late)

    @property
    def percent(self) -> int:
        """The grade in percent, rounded down: 100 is all."""
        return self._share(self.earned)

    @property
    def late_percent(self) -> int | None:
        """The same for what came late; None if nothing better did."""
        return None if self.late is None else self._share(self.late.earned)

    def _share(self, earned: int) -> int:
        return 100 * earned // self.total if self.total else 0


@dataclass(frozen=True)
class ErrorCount:
    """How often something went wrong. says: a verdict, or why it was given. students: of how many students."""

    says: str
    runs: int
    students: int


def counts(run: Run) -> bool:
    """Whether a run can count for a grade: passes under all checks of the judge, with values."""
    is_strict = run.spec.profile is Profile.STRICT and run.spec.stage is not Stage.CHECK
    return is_strict and run.solver is SolverKind.PASSES


def lesson_run(lesson: Lesson, run: Run, outcomes: Sequence[Outcome]) -> HandedIn | None:
    """A finished run of a lesson; None if the judge could say nothing about it."""
    grade = graded(lesson, outcomes)
    # stars on some variants only would be those of the easy ones
    earned = len(grade.stars) if grade.complete else 0
    return _handed_in(run, [each for each in outcomes if each.task_id == lesson.task.id], earned, grade.passed)


def task_run(task_id: str, total: int, run: Run, outcomes: Sequence[Outcome]) -> HandedIn | None:
    """A finished run of a task with so many subgraphs; None if the judge could say nothing about it."""
    own = [each for each in outcomes if each.task_id == task_id]
    earned = len({each.subgraph_id for each in own if each.verdict in RIGHT})
    return _handed_in(run, own, earned, earned >= total > 0)


def _handed_in(run: Run, outcomes: Sequence[Outcome], earned: int, passed: bool) -> HandedIn | None:
    if all(each.verdict in UNJUDGED | UNDECIDED for each in outcomes):
        return None
    # an outcome that was known already is older than the run
    moments = (datetime.fromisoformat(each) for each in (run.started_at, *(each.finished_at for each in outcomes)))
    failed = [each for each in outcomes if each.verdict not in RIGHT | UNJUDGED | UNDECIDED]
    causes = dict.fromkeys((each.verdict, cause(each)) for each in failed)
    return HandedIn(run.id, max(moments), earned, passed, tuple(each.verdict for each in outcomes), tuple(causes))


def attainment(runs: Iterable[HandedIn], due_at: datetime, total: int) -> Attainment:
    """What somebody has reached with these runs, in any order. total: how much there is to earn."""
    ordered = sorted(runs, key=lambda each: each.finished_at)
    best = _best(each for each in ordered if each.finished_at <= due_at)
    late = _best(each for each in ordered if each.finished_at > due_at)
    if late is not None and best is not None and _worth(late) <= _worth(best):
        late = None
    return Attainment(total, best, late, len(ordered))


def _best(runs: Iterable[HandedIn]) -> HandedIn | None:
    """The first of the best."""
    return max(runs, key=_worth, default=None)


def _worth(run: HandedIn) -> tuple[bool, int]:
    return run.passed, run.earned


def _state(run: HandedIn | None) -> WorkState:
    if run is None:
        return WorkState.NOT_BEGUN
    return WorkState.PASSED if run.passed else WorkState.ATTEMPTED


def cause(outcome: Outcome) -> str:
    """Why an outcome failed, in words of the judge alone: the rule, the kind of miss, or how its reason begins, and
    which of Python's exceptions it names. Empty if nothing can be said but the verdict."""
    if rules := [each.rule for each in outcome.findings if each.fatal]:
        return f"rule {rules[0]}"
    if outcome.verdict is Verdict.NO_MATCH:
        return next((each.kind.value for each in misses(outcome)), "")
    begins = "" if outcome.verdict in NAMES_CODE else _QUOTED.sub("…", _ENDS.split(outcome.reason, maxsplit=1)[0])
    raised = next((name for name in _RAISED.findall(outcome.reason) if hasattr(builtins, name)), "")
    return outside.shortened(": ".join(filter(None, (begins.strip(), raised))), LONGEST_CAUSE)


def typical_verdicts(runs: Mapping[str, Iterable[HandedIn]]) -> tuple[ErrorCount, ...]:
    """In how many runs each verdict occurs that is a failure, the most frequent first. runs: by student."""
    return _counted(
        (student, run.run_id, verdict.value)
        for student, run in _each(runs)
        for verdict in {verdict for verdict, _ in run.causes}
    )


def typical_causes(runs: Mapping[str, Iterable[HandedIn]]) -> tuple[ErrorCount, ...]:
    """In how many runs each reason occurs, with its verdict, the most frequent first. runs: by student."""
    return _counted(
        (student, run.run_id, f"{verdict.value}: {words}" if words else verdict.value)
        for student, run in _each(runs)
        for verdict, words in run.causes
    )


def _each(runs: Mapping[str, Iterable[HandedIn]]) -> Iterator[tuple[str, HandedIn]]:
    yield from ((student, run) for student, theirs in runs.items() for run in theirs)


def _counted(found: Iterable[tuple[str, str, str]]) -> tuple[ErrorCount, ...]:
    """found: student, run, and what went wrong in it."""
    distinct = list(dict.fromkeys(found))
    runs = Counter(says for _, _, says in distinct)
    students = Counter(says for _, says in {(student, says) for student, _, says in distinct})
    return tuple(
        ErrorCount(says, number, students[says])
        for says, number in sorted(runs.items(), key=lambda each: (-students[each[0]], -each[1], each[0]))
    )
