"""A call at the recorded sizes, of which only a few programs are interpreted, if the others were at smaller ones.

What these programs store is compared with eager, as far as it is what they store in a call of all programs. And if all
programs together, each storing as much as the one that stores most, cannot fill an output, the grid ends too early. So
it may if they cannot read all of an argument, or store or read all of the memory between launches, as they can at the
smaller sizes. All are only suspicions: an honest kernel may have one program that does more than the others. A
suspicion is decided by a call of all programs. If that is too much work, what has been stored is compared within the
usual bound, and of the grid nothing is certain."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import torch

from passnet_core.judge.numerics import comparing
from passnet_core.judge.numerics.input_draws import without_content
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.messages import (
    CandidateEnd,
    CandidateFault,
    CandidateTimeout,
    Executed,
    Produced,
    Returned,
    Watched,
)
from passnet_core.judge.stages.compilation import launches_of
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.sizes import Shapes
from passnet_core.judge.stages.verify_session import EagerFailed, VerifySession, WatchedCall
from passnet_core.records import Evidence, Verdict

TOPIC = "recorded sizes"
INPUT_DRAW = "typical"
MOST_ELEMENTS = 1 << 27
"""How many input elements the call has at most."""
WHOLE_CALL_S = 30.0
"""How many seconds of work a call of all programs may be."""
SUSPICIOUS_SHARE = 0.01
"""The share of the stored elements that must be suspicious."""
FAR = 0.1
"""An element is suspicious alone if it differs by this share of itself and of the mean size."""


def recorded_sizes(session: VerifySession) -> Census | None:
    """WRONG_VALUES, if kernels are wrong at the recorded sizes, or at the largest ones below MOST_ELEMENTS.

    VALUES_ONLY: a few programs are right there, and the call is kept with the others. INCONCLUSIVE: it seems as if a
    grid could not fill an output. None: nothing was compared."""
    asked, shapes = session.asked, session.pace.larger(lambda step: step.elements <= MOST_ELEMENTS)
    if (planned := asked.interpreted) is None or shapes is None:
        return None
    bench = session.bench
    assert isinstance(bench, LocalReferenceBench)
    asked.report("running a few programs at the recorded sizes")
    try:
        if session.before is not None:
            session.prepare_eager()
        bench.draw(INPUT_DRAW, shapes)
        session.witnessed(lambda: bench.refer(exact=False))
        planned.give(bench.taken())
        sampled = session.execute(shapes, None, sampled=True)
        missing = _missing(session) if shapes == session.pace.recorded else ()
        return _compared(session, bench, sampled, shapes, missing)
    except EagerFailed:
        return None
    except CandidateEnd as end:
        # the rest of the graph may need what the kernels have not computed here
        if end.who == "executor" or isinstance(end, CandidateFault):
            return None
        raise


def full_size(session: VerifySession) -> Census | None:
    """Launch at the recorded sizes, if those that recorded_sizes compares are smaller.

    INCONCLUSIVE: it seems as if a grid could not fill an output, or left out what none leaves out at smaller sizes.
    None: nothing is wrong, or nothing was launched. Raises CandidateFault for a kernel that leaves the memory of its
    launch there, and for a grid that a GPU refuses."""
    asked, shapes = session.asked, session.pace.larger(lambda step: step.elements <= MOST_ELEMENTS)
    if asked.interpreted is None or shapes is None or shapes == session.pace.recorded:
        return None
    try:
        unfilled = _launched(session)
    except CandidateFault as fault:
        if fault.kind == "plan":
            return None
        raise
    if not unfilled:
        return None
    reason = f"The grids seem to end too early at the recorded sizes: {unfilled[0]}."
    return Census(Verdict.INCONCLUSIVE, reason, (), (Evidence(TOPIC, "\n".join(unfilled)),))


def _missing(session: VerifySession) -> tuple[str, ...]:
    """As _launched; a call that is compared decides what else may be wrong."""
    try:
        return _launched(session)
    except CandidateFault:
        # zeros may lead a kernel outside of its memory
        return ()


def _launched(session: VerifySession) -> tuple[str, ...]:
    """Launch without content, first at the smaller sizes and then at the recorded ones. Return what the grids seem to
    leave out there, in words."""
    asked, smaller = session.asked, session.before or session
    planned = asked.interpreted
    if planned is None or asked.preparations[session.name].weights:
        return ()
    asked.report("launching at the recorded sizes")
    try:
        if smaller is not session:
            planned.prepare(smaller.name, smaller.asked.preparations[smaller.name])
        for shapes in smaller.pace.choices:
            specs = [replace(spec, shape=shape) for spec, shape in zip(smaller.specs, shapes)]
            with suppress(CandidateFault):
                planned.launch_at(smaller.name, without_content(specs, smaller.roles))
    finally:
        if smaller is not session:
            planned.prepare(session.name, asked.preparations[session.name])
    return planned.launch_at(session.name, without_content(session.specs, session.roles))


def _compared(
    session: VerifySession, bench: LocalReferenceBench, sampled: Executed, shapes: Shapes, missing: Sequence[str]
) -> Census | None:
    """missing: what the grids seem to leave out, in words."""
    asked = session.asked
    assert asked.planned is not None
    assert bench.eager is not None
    eager, watched = bench.eager.outputs, asked.planned.watched(sampled)
    described = ", ".join(f"{spec.name} {list(shape)}" for spec, shape in zip(session.specs, shapes))
    suspicions = [*_suspicions(sampled, eager), *(_Suspicion(f"{each}.", unread=True) for each in missing)]
    evidence = (Evidence(TOPIC, "\n".join((*_grids(watched), *(each.text for each in suspicions)))),)
    if not suspicions:
        session.watched.append(WatchedCall(INPUT_DRAW, shapes, watched))
        text = f"A few programs of each launch, at {described}, stored what eager computes."
        return Census(Verdict.VALUES_ONLY, "", (), (Evidence(TOPIC, text),))
    asked.report("running all programs at the recorded sizes")
    decided: Returned | None
    ended: CandidateFault | CandidateTimeout | None = None
    try:
        decided = session.execute(shapes, None, most_s=WHOLE_CALL_S).returned
    except (CandidateFault, CandidateTimeout) as end:
        # between several plans, the rest of the graph may have computed with what is incomplete
        decided, ended = _completed(sampled, eager) if len(watched.plans) == 1 else None, end
    if decided is not None:
        session.witnessed(lambda: session.bench.refer(exact=session.strict and not session.exact_problem))
        if wrong := bench.judge(decided).wrong:
            reason = f"The kernels are wrong at {described}: {wrong[0].rstrip('.')}."
            return Census(Verdict.WRONG_VALUES, reason, (), evidence)
    # by an atomic operation a program may learn that it has to do the rest of an output
    certain = (each for each in suspicions if each.unread or (each.unfilled and decided and not sampled.atomic))
    if ended is None:
        return None
    if (left_out := next(certain, None)) is None:
        if isinstance(ended, CandidateTimeout):
            raise ended
        return None
    reason = (
        f"Running all programs at {described} is too much work for Triton's interpreter, and a few of them seem"
        f" to leave elements out: {left_out.text}"
    )
    return Census(Verdict.INCONCLUSIVE, reason, (), evidence)


@dataclass(frozen=True)
class _Suspicion:
    """What seems to be wrong. unfilled: elements of an output that no program stores. unread: memory that no program
    reads, or stores for the next launch, although at smaller sizes all is."""

    text: str
    unfilled: bool = False
    unread: bool = False


def _grids(watched: Watched) -> Iterator[str]:
    """The kernels that are launched, with their grids, as the planner tells."""
    for plan in watched.plans:
        for step in launches_of(plan.get("steps", ())):
            if isinstance(step.get("launch"), dict):
                yield f"{str(step['launch'].get('name'))[:80]} has the grid {str(step.get('grid'))[:40]}."


def _suspicions(sampled: Executed, eager: tuple[Produced, ...]) -> Iterator[_Suspicion]:
    for index, (given, wanted, (stored, most)) in enumerate(zip(sampled.returned.outputs, eager, sampled.stored)):
        actual, right = given.value, wanted.value
        if not isinstance(actual, torch.Tensor) or not isinstance(right, torch.Tensor) or actual.shape != right.shape:
            continue
        alike = comparing.alike(actual, right)
        wrong, known = int((stored & ~alike).sum()), int(stored.sum())
        if wrong > SUSPICIOUS_SHARE * known or _far_off(actual[stored & ~alike], right[stored & ~alike], right):
            yield _Suspicion(f"output {index}: {wrong} of {known} elements that a few programs stored are not eager's.")
        there = int((alike & ~stored).sum())
        if most + there < actual.numel():
            yield _Suspicion(
                f"output {index}: all programs together store at most {most} elements if each stores as many as those"
                f" that ran; {there} others are right without them, and it has {actual.numel()}.",
                unfilled=True,
            )


def _far_off(given: torch.Tensor, wanted: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether any of these elements of an output cannot be explained by rounding. right: the whole output."""
    if not given.numel() or not right.is_floating_point():
        return False
    sizes = right.abs().float()
    bound = FAR * (wanted.abs().float() + sizes[sizes.isfinite()].mean())
    return bool(((given.float() - wanted.float()).abs() > bound).any())


def _completed(sampled: Executed, eager: tuple[Produced, ...]) -> Returned:
    """What was stored, and eager's results elsewhere."""
    outputs = [
        replace(given, value=torch.where(stored, given.value, wanted.value))
        if isinstance(given.value, torch.Tensor) and isinstance(wanted.value, torch.Tensor)
        else wanted
        for given, wanted, (stored, _) in zip(sampled.returned.outputs, eager, sampled.stored)
    ]
    return replace(sampled.returned, outputs=tuple(outputs), changed={})
