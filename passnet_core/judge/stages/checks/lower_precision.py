from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.protocol.reference_bench import OutputDifference
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict

COARSEST = 2.0**-6
"""Errors of roundings to half precision are smaller than this share of a value."""


def lower_precision(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches computing in a coarser dtype than the inputs have: half precision inside, TF32, a half-precision sum."""
    for each in call.objections(Verdict.LOWER_PRECISION):
        yield replace(each, hint=_hint(each.difference))


def _hint(found: OutputDifference) -> str:
    """What to do about errors of this kind, as a sentence behind others; "" if they tell nothing."""
    facts = found.map
    if facts is not None and facts.factor is not None:
        return f" Nearly all are {facts.factor:.6g} times eager's: compare constants and divisors with the subgraph's."
    if facts is not None and (facts.value is not None or facts.offset is not None or facts.rearranged):
        return ""
    relative = facts.relative if facts is not None else None
    if relative is None and found.expected and found.actual is not None:
        relative = abs(found.actual / found.expected - 1)
    if relative is not None and relative > COARSEST:
        return ""
    if found.dtype == "float32":
        return " Compute in float32 throughout: no half precision, no TF32."
    return " Accumulate in float32 and round once."
