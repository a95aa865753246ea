from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.protocol.reference_bench import SystematicError
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict, counted

MARGIN = 1.1
"""By how much a figure must exceed its limit. Kernels that round once more than eager come to 0.97 of the limits."""

DIRECTION_HINT = " Rounding has no direction: look for a factor, a count, a constant or a formula that is not eager's."
SPREAD_HINT = (
    " Compute in float32 and round once, to the output's dtype: look for values that are rounded more coarsely or more"
    " often than eager's, and for a factor or a formula that is not eager's."
)


def one_sided_errors(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches what the slack for rounding hides in half precision: values that are all one percent too small, a mean
    over one element too many, the tanh form of GELU for the exact one, results of which some bits are missing."""
    for output, error in enumerate(call.judged.systematic if session.strict and session.is_candidate else ()):
        if error is not None and error.ratio > MARGIN:
            found = replace(
                call.judged.values[output],
                verdict=Verdict.LOWER_PRECISION,
                problem=problem(error),
            )
            yield Objection(output, found, DIRECTION_HINT if error.direction else SPREAD_HINT)


OPPOSITE = {"upwards": "downwards", "away from zero": "towards zero"}


def problem(found: SystematicError) -> str:
    """Say which elements are off, in which direction and by how much."""
    if found.whole:
        towards, leaning = _said_way(found.mean, found.direction), (1 + abs(found.mean)) / 2
        own = (1 + found.eager * (1 if found.mean >= 0 else -1)) / 2
        off = f"{counted(found.count, found.of)} of {found.draws} input sets are off by one"
        return f"its errors have a direction: {off}, {leaning:.0%} of them {towards}, of eager's {own:.0%}"
    over = f"over {found.count:,} elements{found.where} of {found.draws} input sets"
    if not found.direction:
        size = f"{found.mean:.2f} ulp ({abs(found.share):.2%}) in the root mean square"
        return f"its errors are larger than those of rounding: {size} {over}, eager's {found.eager:.2f} ulp"
    mean = f"{_said(found.mean, found.direction)} ({abs(found.share):.2%})"
    return f"its errors have a direction: on average {mean} {over}, eager's {_said(found.eager, found.direction)}"


def _said(mean: float, direction: str) -> str:
    return f"{abs(mean):.2f} ulp {_said_way(mean, direction)}"


def _said_way(mean: float, direction: str) -> str:
    return direction if mean >= 0 else OPPOSITE[direction]
