from collections.abc import Iterable

from passnet_core.judge.stages.checks.exchanged_in_place import EXTRA_CALLS
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession

INPUTS = "typical, at another address"


def relocated(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches addresses kept from an earlier call, as a replayed CUDA graph keeps them: the previous inputs come again
    at another address."""
    wanted = session.strict and session.is_candidate and session.input_draw == "typical"
    if wanted and session.settled and session.pace.affords(EXTRA_CALLS):
        session.call(INPUTS, fresh=True)
    return ()
