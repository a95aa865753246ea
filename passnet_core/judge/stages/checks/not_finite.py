from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def not_finite(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches NaN or infinity where eager has none, or a number where eager has one: NaN as a wildcard that compares
    with anything, reads beside an input, addresses kept from the first call."""
    return call.valued(Verdict.NON_FINITE)
