from collections.abc import Iterable

from passnet_core.judge.stages.trial import ComparedCall, EagerFailed, Objection, VerifyTrial

INPUTS = "typical, two elements exchanged in place"

EXCHANGES = 2
"""The elements by which a pass tells inputs apart may be among those exchanged once, hardly twice."""

EXTRA_CALLS = EXCHANGES + 1
"""With that of relocated."""


def exchanged_in_place(trial: VerifyTrial, call: ComparedCall) -> Iterable[Objection]:
    """Catches results remembered by address, shape, version or a fingerprint of the content: after typical inputs two
    elements of each change places, in the same tensors, so that sums and extremes stay."""
    if not (trial.strict and trial.is_candidate) or trial.drawing != "typical":
        return ()
    if not trial.pace.affords(EXTRA_CALLS):
        trial.warnings.append("Calls on inputs that were changed in place were left out: they take too long.")
        return ()
    trial.asked.report("comparing them once more, changed in place and moved")
    trial.bench.draw("typical", trial.pace.shapes)
    for _ in range(EXCHANGES):
        trial.bench.exchange()
        try:
            trial.refer()
        except EagerFailed:
            break
        trial.call(INPUTS, fresh=False)
    return ()
