from collections.abc import Iterable

from passnet_core.judge.numerics import comparing
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def overlapping_elements(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches an expanded row in place of a full output: its elements lie at one address, and a consumer that writes
    one of them changes them all."""
    for output, eager, actual in call.outputs() if session.strict else ():
        if problem := comparing.overlap_problem(eager, actual):
            yield call.against(output, Verdict.WRONG_SHAPE, problem)
