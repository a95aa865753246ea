from collections.abc import Iterable
from dataclasses import replace

import torch

from passnet_core.judge.numerics import comparing
from passnet_core.judge.protocol.messages import CandidateFault, Returned
from passnet_core.judge.stages.checks.overwritten_results import overwritten_results
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Device

FLOATS = ("float32", "float64", "float16", "bfloat16")


def idle_kernels(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches results that do not come from the bundle's kernels: in a further call on the same inputs all launches do
    nothing. If the outputs are right all the same on each such draw, the verdict is library; but memory that an earlier
    call had returned is no result of this one. On a CPU the same is done while the call is watched: what is right only
    if nobody watches has been computed by what hides from those who do."""
    if session.strict and session.planned.again and call.returned is not None:
        try:
            returned = session.asked.candidate.run(session.name, fresh=False, idle=True)
        except CandidateFault:
            # it may stumble over what its kernels have not written
            session.right_without_kernels.append(False)
        else:
            session.right_without_kernels.append(session.bench.right(returned))
            yield from overwritten_results(session, replace(call, returned=returned))
            if session.asked.job.spec.device is Device.CPU:
                session.hidden_shares.append(_hidden(session, call, returned))


def _hidden(session: VerifySession, call: ComparedCall, unwatched: Returned) -> float:
    """The largest share of an output that is right without kernels, but not if the call is watched."""
    assert call.returned is not None
    try:
        watched = session.asked.candidate.run(session.name, fresh=False, idle=True, watched=True)
    except CandidateFault:
        return 0.0
    shares = [0.0]
    for right, one, other in zip(call.returned.outputs, unwatched.outputs, watched.outputs):
        tensors = [each.value for each in (right, one, other) if isinstance(each.value, torch.Tensor)]
        # few bits may be right by chance
        if len(tensors) == 3 and len({each.shape for each in tensors}) == 1 and right.dtype.startswith(FLOATS):
            wanted, given, seen = tensors
            found = comparing.alike(given, wanted) & ~comparing.alike(seen, wanted)
            shares.append(int(found.sum()) / max(wanted.numel(), 1))
    return max(shares)
