from collections.abc import Iterable

from passnet_core.judge.numerics import comparing
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def shared_memory(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches an output in the memory of an input or of another output, unless eager does the same: a later change of
    one changes both. Likewise an output that is not in the memory of an input, where eager changes that input in place
    and returns it."""
    changed = {f"input {each.index}" for each in call.judged.inputs if each.by_eager}
    for output, eager, actual in call.outputs() if session.strict else ():
        if problem := comparing.sharing_problem(eager, actual):
            yield call.objection(output, Verdict.WRONG_VALUES, problem)
        for missing in sorted(changed.intersection(eager.shares) - set(actual.shares)):
            problem = f"eager changes {missing} in place and returns its memory; this returns different memory"
            yield call.objection(output, Verdict.WRONG_VALUES, problem)
