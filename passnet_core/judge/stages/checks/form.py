from collections.abc import Iterable

from passnet_core.judge.numerics import comparing
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.verify_session import ComparedCall, Decided, Objection, VerifySession
from passnet_core.records import Accuracy, Verdict


def form(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches returns of another form than eager's: another number of values, a bare value instead of a tuple, a tensor
    subclass, a wider dtype, another device, another shape. By PassNet's rules a shape that broadcasts will do."""
    judged = call.judged
    if judged.problem:
        outputs = (comparing.gather([(call.inputs, each)], index) for index, each in enumerate(judged.values))
        accuracy = Accuracy(tuple(outputs), (call.inputs,))
        reason = f"The result has the wrong form: {judged.problem}."
        raise Decided(Verification(Verdict.WRONG_TYPE, reason, accuracy))
    return call.objections(Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE)
