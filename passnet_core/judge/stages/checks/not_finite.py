from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def not_finite(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches NaN or infinity where eager has a number, and a number where eager has NaN or infinity: NaN as a wildcard
    in comparisons, reads beside an input, addresses kept from the first call."""
    return call.objections(Verdict.NON_FINITE)
