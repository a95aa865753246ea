from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def lower_precision(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches computing in a coarser dtype than the inputs have: half precision inside, TF32, a half-precision sum."""
    for each in call.objections(Verdict.LOWER_PRECISION):
        whole = each.difference.dtype == "float32"
        hint = "Compute in float32 throughout: no half precision, no TF32."
        yield replace(each, hint=f" {hint if whole else 'Accumulate in float32 and round once.'}")
