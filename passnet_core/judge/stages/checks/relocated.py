from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def relocated(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches addresses kept from an earlier call, as a replayed CUDA graph keeps them: the previous inputs come again
    at another address."""
    if session.strict and session.planned.relocates and session.settled:
        session.call(f"{session.input_draw}, at another address", fresh=True)
    return ()
