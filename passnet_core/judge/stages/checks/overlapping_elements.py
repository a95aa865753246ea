from collections.abc import Iterable

from passnet_core.judge.numerics import comparing
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def overlapping_elements(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches an expanded row instead of a full output: its elements share addresses, so a consumer that writes to one
    of them changes others."""
    for output, eager, actual in call.outputs() if session.strict else ():
        if problem := comparing.overlap_problem(eager, actual):
            yield call.objection(output, Verdict.WRONG_SHAPE, problem)
