from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.protocol.messages import CandidateFault
from passnet_core.judge.stages.checks.overwritten_results import overwritten_results
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Evidence, Verdict


def idle_kernels(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches results that do not come from the bundle's kernels: in a further call on the same inputs all launches do
    nothing. If the outputs are right all the same on each such draw, the verdict is library; but memory that an earlier
    call had returned is no result of this one."""
    if session.strict and session.planned.again and call.returned is not None:
        try:
            returned = session.asked.candidate.run(session.name, fresh=False, idle=True)
        except CandidateFault:
            # it may stumble over what its kernels have not written
            session.right_without_kernels.append(False)
        else:
            session.right_without_kernels.append(session.bench.right(returned))
            yield from overwritten_results(session, replace(call, returned=returned))


def needless_kernels(session: VerifySession) -> Census | None:
    """LIBRARY, if the outputs were right on every draw on which the bundle's kernels did nothing; else None."""
    if len(session.right_without_kernels) < 2 or not all(session.right_without_kernels):
        return None
    reason = (
        "The values are right, but the bundle's own kernels did not compute them: they are also right if no kernel"
        " of the bundle does anything."
    )
    return Census(
        Verdict.LIBRARY, reason, (), (Evidence("idle kernels", "Calls in which no kernel did anything were right."),)
    )
