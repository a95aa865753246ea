from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, EagerFailed, Objection, VerifySession

INPUTS = "typical, two elements exchanged in place"

EXCHANGES = 2
"""How many times elements are exchanged: one exchange may happen to leave a pass's fingerprint, two hardly do."""

EXTRA_CALLS = EXCHANGES + 1
"""The calls that this check and relocated make together."""


def exchanged_in_place(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches results remembered by address, shape, version or a fingerprint of the content: two elements of each
    typical input change places in the same tensor, so sums and extremes stay."""
    if not (session.strict and session.is_candidate) or session.input_draw != "typical":
        return ()
    if not session.pace.affords(EXTRA_CALLS):
        session.warnings.append("Calls on inputs changed in place were left out, because they take too long.")
        return ()
    session.asked.report("comparing typical inputs again, changed in place and at another address")
    session.bench.draw("typical", session.pace.shapes)
    for _ in range(EXCHANGES):
        session.bench.exchange()
        try:
            session.refer()
        except EagerFailed:
            break
        session.call(INPUTS, fresh=False)
    return ()
