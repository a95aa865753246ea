"""The one order in which the outcomes of a run are listed: the worst first."""

import math
from collections.abc import Iterable

from passnet_core.records import Outcome, Verdict

GRAVEST_FIRST = (
    Verdict.CHEAT,
    Verdict.WRONG_VALUES,
    Verdict.NON_FINITE,
    Verdict.WRONG_SHAPE,
    Verdict.WRONG_TYPE,
    Verdict.LOWER_PRECISION,
    Verdict.CRASHED,
    Verdict.TIMED_OUT,
    Verdict.COMPILE_FAILED,
    Verdict.REWRITE_FAILED,
    Verdict.DOES_NOT_LOAD,
    Verdict.REJECTED,
    Verdict.LIBRARY,
    Verdict.NO_MATCH,
    Verdict.EAGER_FAILED,
    Verdict.INFRASTRUCTURE,
    Verdict.NEEDS_GPU,
    Verdict.CANCELLED,
    Verdict.SLOWER,
    Verdict.NO_DIFFERENCE,
    Verdict.INCONCLUSIVE,
    Verdict.MATCHED,
    Verdict.VALUES_ONLY,
    Verdict.FASTER,
)
"""All verdicts by gravity. Wrong results, which somebody might use, come before failures that show; then what was never
a result; then what says nothing about the passes; then what was accepted."""


def worst_first(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Sort outcomes: the gravest verdict first, then the smallest speedup, end to end, then as they came. Among equal
    verdicts those without a speedup come last."""
    return tuple(sorted(outcomes, key=_gravity))


def _gravity(outcome: Outcome) -> tuple[int, float]:
    speedup = outcome.speedup()
    return GRAVEST_FIRST.index(outcome.verdict), speedup.value if speedup else math.inf


def summary_words(outcomes: Iterable[Outcome], total: int) -> str:
    """Return "11 of 12 accepted; worst: float16/3/x: wrong values", as plain text. Names the task if there are
    several. total: how many were asked for."""
    worst = worst_first(outcomes)
    accepted = f"{sum(each.verdict.accepted for each in worst)} of {total} accepted"
    if not worst:
        return accepted
    speedup = worst[0].speedup()
    figure = f", {speedup.value:.2f}×" if speedup else ""
    several = len({each.task_id for each in worst}) > 1
    place = f"{worst[0].task_id}, {worst[0].subgraph_id}" if several else worst[0].subgraph_id
    return f"{accepted}; worst: {place}: {worst[0].verdict.value}{figure}"
