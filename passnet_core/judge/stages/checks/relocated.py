from collections.abc import Iterable

from passnet_core.judge.stages.checks.exchanged_in_place import EXTRA_CALLS
from passnet_core.judge.stages.trial import ComparedCall, Objection, VerifyTrial

INPUTS = "typical, at another address"


def relocated(trial: VerifyTrial, call: ComparedCall) -> Iterable[Objection]:
    """Catches addresses kept from an earlier call, as a replayed CUDA graph keeps them: the content of the call before
    comes again in other memory."""
    wanted = trial.strict and trial.is_candidate and trial.drawing == "typical"
    if wanted and trial.settled and trial.pace.affords(EXTRA_CALLS):
        trial.call(INPUTS, fresh=True)
    return ()
