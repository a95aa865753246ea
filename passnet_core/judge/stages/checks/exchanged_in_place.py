from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, EagerFailed, Objection, VerifySession


def exchanged_in_place(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches results remembered by address, shape, version or a fingerprint of the content: two elements of each input
    change places in the same tensor, so sums and extremes stay."""
    for _ in range(session.planned.exchanges if session.strict else 0):
        session.asked.report(f"comparing {session.input_draw} inputs again, changed in place")
        session.bench.exchange()
        try:
            session.refer()
        except EagerFailed:
            break
        session.call(f"{session.input_draw}, two elements exchanged in place", fresh=False)
    return ()
