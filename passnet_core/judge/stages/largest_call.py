"""A call at the recorded sizes, or at large ones, of which nothing is compared, if the others were at smaller ones.

A bundle may do something else where tensors are large, and a GPU refuses what only large tensors ask for: a grid that
is too long, a block that is too large. So the call is watched like any other, and what it launches is compiled. The
inputs hold zeros, and only a few programs run."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch

from passnet_core.judge.numerics.draws.drawing import dtype_of
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.messages import CandidateFault
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, Drawn
from passnet_core.judge.stages.compilation import refused_kernels
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.sizes import Shapes
from passnet_core.judge.stages.verify_session import VerifySession, WatchedCall

INPUTS = "all zeros"
MOST_BYTES = 1 << 30
"""How large all inputs of the call are at most."""
MOST_EAGER_S = 20.0
"""How long eager may take at these sizes: the rest of the graph is computed."""
OVERHEAD_S = 0.002
"""What of a small call of eager does not grow with its sizes."""
REFUSED = frozenset({"launch", "compile"})
"""Kinds of faults that do not come from what the kernels have left uncomputed here."""


def largest_call(session: VerifySession) -> Census | None:
    """Make the call, unless one at these sizes was watched before, and keep what was seen in it with what was seen in
    the others.

    COMPILE_FAILED if Triton's compiler refuses what it launched. None: nothing is wrong with it, or it was not made.
    Raises CandidateFault for what CUDA or Triton refuses at once."""
    asked, shapes = session.asked, session.pace.larger(lambda step: session.input_bytes(step.shapes) <= MOST_BYTES)
    if (planned := asked.interpreted) is None or shapes is None:
        return None
    if _eager_s(session, shapes) > MOST_EAGER_S:
        return None
    if known := [each for each in session.watched if each.shapes == shapes]:
        return refused_kernels(session, known)
    asked.report("watching a call at the recorded sizes")
    try:
        planned.give(list(_inputs(session, shapes)))
        watched = planned.watched(session.execute(shapes, None, sampled=True))
    except CandidateFault as fault:
        if fault.kind in REFUSED:
            raise
        return None
    session.watched.append(WatchedCall(INPUTS, shapes, watched))
    return refused_kernels(session, session.watched[-1:])


def _eager_s(session: VerifySession, shapes: Shapes) -> float:
    """About how long eager takes at these sizes, by its last call."""
    bench = (session.before or session).bench
    if not isinstance(bench, LocalReferenceBench) or bench.eager is None:
        return 0.0
    elements, known = (sum(map(math.prod, each)) for each in (shapes, bench.sizes))
    return max(0.0, bench.eager.seconds - OVERHEAD_S) * elements / max(known, 1)


def _inputs(session: VerifySession, shapes: Shapes) -> Iterator[Drawn]:
    """Zeros, and what was recorded with its content."""
    for spec, shape in zip(session.specs, shapes):
        if spec.data is not None or session.roles.get(spec.name, PLAIN_ROLE).number:
            yield draw([replace(spec, shape=tuple(shape))], "recorded", 0, roles=session.roles)[0]
        else:
            yield torch.zeros(shape, dtype=dtype_of(spec))
