from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, EagerFailed, Objection, VerifySession

INPUTS = "typical, two elements exchanged in place"

EXCHANGES = 2
"""The elements by which a pass tells inputs apart may be among those exchanged once, hardly twice."""

EXTRA_CALLS = EXCHANGES + 1
"""With that of relocated."""


def exchanged_in_place(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches results remembered by address, shape, version or a fingerprint of the content: after typical inputs two
    elements of each change places, in the same tensors, so that sums and extremes stay."""
    if not (session.strict and session.is_candidate) or session.drawing != "typical":
        return ()
    if not session.pace.affords(EXTRA_CALLS):
        session.warnings.append("Calls on inputs that were changed in place were left out: they take too long.")
        return ()
    session.asked.report("comparing them once more, changed in place and moved")
    session.bench.draw("typical", session.pace.shapes)
    for _ in range(EXCHANGES):
        session.bench.exchange()
        try:
            session.refer()
        except EagerFailed:
            break
        session.call(INPUTS, fresh=False)
    return ()
