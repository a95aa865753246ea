"""MEASURE: time eager, Inductor and the passes on the same clocks, in bursts of calls that are checked.

A ratio is taken between two callables that take turns in one process: the passes and an eager beside them, Inductor and
the eager beside it. The workers time their own calls. Their claims count because the inputs of a burst come from a seed
that nobody knew before, the referee's own clock must agree, calls picked afterwards at random must have returned the
right values, and eager beside the passes must be as fast as in a process without them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Fills, Preparation
from passnet_core.judge.stages import checked_calls, clock_audits, timed_blocks
from passnet_core.judge.stages.clock_audits import Audit, ClockSpec, Excess, NotAudited
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PASSNET_SEED, PreparedJob
from passnet_core.judge.stages.timed_blocks import Blocks, Timed
from passnet_core.judge.stages.timing_session import Contest, Pair, TimingSession
from passnet_core.judge.supervisor.device_lock import steady_core
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import (
    NOISE_FLOOR,
    TIMED_CALLS,
    Clock,
    Contender,
    Device,
    Evidence,
    Profile,
    Verdict,
)

CLOCKS: tuple[ClockSpec, ...] = (
    ClockSpec(Clock.END_TO_END, audited=Audit(lenience=1.0), budget_s=0.8, scored=True, passnet=True),
    # the device records events a little later than the host begins the call
    ClockSpec(Clock.EVENT, audited=Audit(lenience=2.0), budget_s=0.2, passnet=True),
    ClockSpec(Clock.COLD, audited=NotAudited("shown beside the event clock, for the same calls"), budget_s=0.2),
    ClockSpec(Clock.KERNEL, audited=NotAudited("shown only: a trace of calls that are not timed"), budget_s=None),
)
"""The clocks, in the order in which calls are timed by them."""

PATIENCE = 8
"""By how much a clock's budget is multiplied when it is timed again, because times were unsteady, the device was busy,
or the clocks may disagree."""

BUSY = 1.3
"""How many times as long as at best a copy may take while the candidate rests. Beyond that the device counts as
busy."""

WARM_UP_S = 0.05
"""For how many seconds each contender is called before it is timed."""

PASSNET_WARM_UP, PASSNET_CALLS = 25, 100
"""How many calls PassNet's protocol makes before it times any, and how many it times."""
PASSNET_CHUNK = 10
"""How many of PassNet's timed calls count as one block."""

VALUES_ONLY = "values only: no GPU, no speedup"


def measure(asked: PreparedJob, alone: Callable[[], AbstractContextManager[None]] = nullcontext) -> Measurement:
    """Time every contender. VERIFY must have found the values right, with the same callables; the seeds of timed calls
    are new.

    alone: entered for all calls that are timed or warm up. Inductor compiles before, while others use the device."""
    if asked.job.spec.device is Device.CPU:
        return Measurement(
            Verdict.VALUES_ONLY,
            "The values are right. Times need a GPU, and this job ran on the CPU.",
            warnings=(VALUES_ONLY,),
        )
    warnings: list[str] = []
    _plan(asked)
    clean = _compiled(asked, warnings)
    with alone():
        contest = _warmed_up(asked, clean, warnings)
        with steady_core() as core:
            session = TimingSession(asked, contest, warnings, core)
            return as_passnet(session) if asked.job.spec.profile is Profile.PASSNET else strictly(session)


# --- by the judge's own profile --------------------------------------------------------------------------------------


def strictly(session: TimingSession) -> Measurement:
    """Time by every clock in turn and audit it, then check the picked calls, then trace kernels."""
    session.plan()
    too_unsure: list[Contender] = []
    doubtful, busy, eager_us = "", 1.0, 0.0
    for spec in CLOCKS:
        if spec.budget_s is None:
            continue
        timed, unsure, doubt = _until_clear(session, spec, patient=bool(too_unsure))
        if spec.scored:
            too_unsure, busy = unsure, session.busy(timed)
            eager_us = median(timed_blocks.pooled(timed.claimed[Contender.EAGER]))
            _note_noise(session, timed, spec)
        if doubt and doubt.certain:
            found = clock_audits.disagreement(doubt, timed, spec.clock, one_core=session.core is not None)
            return session.measurement(*found, scored=False)
        if doubt:
            doubtful = doubtful or f"{doubt.words}, compared with the reference worker ({spec.clock.value})"
        session.keep(spec.clock, timed.claimed, timed.speedups(spec.clock))
    problem = _problem_of_picked_calls(session)
    if problem is not None:
        return session.measurement(*problem, scored=False)
    session.asked.report(f"timing, {Clock.KERNEL.value} clock")
    session.keep(Clock.KERNEL, traced := session.trace(eager_us), _speedups(Clock.KERNEL, traced))
    reason = _inconclusive(session.asked.names, too_unsure, doubtful, busy)
    if reason or session.noise is None:
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), session.noise))


def _speedups(clock: Clock, blocks: Blocks) -> list[timed_blocks.Speedup]:
    """The speedups by the medians of these blocks."""
    found = (timed_blocks.speedup(each, clock, blocks) for each in blocks if each is not Contender.EAGER)
    return [each for each in found if each is not None]


def _until_clear(
    session: TimingSession, spec: ClockSpec, *, patient: bool
) -> tuple[Timed, list[Contender], Excess | None]:
    """Time by one clock: again if the result is unclear, and once more if the clocks may disagree.

    Returns the blocks, the contenders whose speedups say nothing, and how the clocks disagree, if they do."""
    session.asked.report(f"timing, {spec.clock.value} clock")
    timed = session.timed(spec, patience=PATIENCE if patient else 1)
    unsure, doubt = _unclear(timed, spec)
    busy = session.busy(timed) > BUSY
    if unsure or doubt or busy:
        names = " and ".join(session.asked.names[each] for each in unsure)
        why = f"the times of {names} were unsteady" if unsure else "the clocks disagree"
        session.asked.report(f"timing again, because {'the device was busy' if busy else why}")
        patient = bool(busy or unsure or patient or (doubt and not doubt.certain))
        timed = session.timed(spec, patience=PATIENCE if patient else 1)
        unsure, doubt = _unclear(timed, spec)
    if doubt and not doubt.certain:
        session.asked.report("timing once more, because the clocks may disagree")
        timed = timed.with_more(session.timed(spec, patience=PATIENCE))
        unsure, doubt = _unclear(timed, spec)
    return timed, unsure, doubt


def _unclear(timed: Timed, spec: ClockSpec) -> tuple[list[Contender], Excess | None]:
    """The contenders whose scored speedups say nothing, and how the referee's own clock disagrees with the claims, if
    it does."""
    return timed_blocks.unsure(timed.speedups(spec.clock)) if spec.scored else [], clock_audits.doubt(timed, spec)


def _note_noise(session: TimingSession, timed: Timed, spec: ClockSpec) -> None:
    """Keep the noise of the machine, as the scored clock shows it, with its evidence."""
    names = session.asked.names
    session.noise = timed_blocks.noise(timed)
    session.evidence.append(Evidence(NOISE_FLOOR, timed_blocks.noise_sentence(timed, session.noise)))
    session.evidence += filter(None, [clock_audits.clock_evidence(timed, spec)])
    if any(timed_inputs.fixed(fill) for fill in session.fills):
        session.evidence.append(timed_blocks.preparing_evidence(timed, names[session.asked.solver]))
    if timed.copying:
        session.evidence.append(timed_blocks.busy_evidence(session.busy(timed), names[Contender.BASELINE]))


def _problem_of_picked_calls(session: TimingSession) -> tuple[Verdict, str] | None:
    """Check the values and the claimed times of the picked calls. Return a verdict and reason if one is wrong."""
    picked = session.picked
    if session.asked.is_candidate:
        session.asked.report(f"comparing the outputs of {len(picked)} timed calls with eager")
        problem = checked_calls.wrong_call(session.witness, session.fills, picked)
        if problem is not None:
            return problem
        said = f"{len(picked)} timed calls, picked at random, were compared with eager: all were right."
        session.evidence.append(Evidence(TIMED_CALLS, said))
    floor = checked_calls.memory_floor(session.witness, session.fills, picked)
    if floor is None:
        return None
    session.evidence.append(floor.evidence)
    candidate, eager = (
        min(each.median for each in session.timings if each.contender is who)
        for who in (Contender.PASSES, Contender.EAGER)
    )
    return floor.impossible(candidate, eager)


def _inconclusive(names: Mapping[Contender, str], too_unsure: Sequence[Contender], doubtful: str, busy: float) -> str:
    """Say why right values get no speedup, or return an empty string."""
    if too_unsure:
        unsure = " and ".join(names[each] for each in too_unsure)
        return (
            f"Right, but the times of {unsure} were too unsteady, even when repeated. Run it again on a quiet machine."
        )
    if doubtful:
        return (
            f"Right, but the clocks may disagree: by the judge's own clock {doubtful}. Timing it three times did not"
            " settle that. Run it again on a quiet machine."
        )
    if busy > BUSY:
        return (
            f"Right, but something kept the device busy while eager and {names[Contender.BASELINE]} were timed, even"
            f" when repeated: copying memory took {busy:.1f} times its best time. Run it again on a quiet machine."
        )
    return ""


# --- by PassNet's protocol -------------------------------------------------------------------------------------------


def as_passnet(session: TimingSession) -> Measurement:
    """Make 25 calls to warm up and 100 timed calls on one input draw, the solver first and eager last, and read two
    clocks in each. Nothing is checked."""
    clocks = [spec.clock for spec in CLOCKS if spec.passnet]
    blocks: dict[Clock, Blocks] = {clock: {} for clock in clocks}
    for contender, client in reversed(session.contest.runners.items()):
        session.asked.report(f"timing {session.asked.names[contender]} as PassNet does")
        session.rest(client)
        name = CALLABLES[contender]
        client.fix([name], session.fills, PASSNET_SEED)
        both = client.passnet_times(name, PASSNET_SEED, PASSNET_WARM_UP, PASSNET_CALLS, session.core)
        for clock, samples in zip(clocks, zip(*both, strict=True), strict=True):
            blocks[clock][contender] = [
                list(samples[start : start + PASSNET_CHUNK]) for start in range(0, PASSNET_CALLS, PASSNET_CHUNK)
            ]
    for clock, found in blocks.items():
        ordered = {contender: found[contender] for contender in session.contest.runners}
        session.keep(clock, ordered, _speedups(clock, ordered))
    spreads = {
        who: max(timed_blocks.spread(timed_blocks.pooled(found[who])) for found in blocks.values())
        for who in session.contest.runners
    }
    # PassNet times no other beside the solver and eager
    own = (Contender.EAGER, session.asked.solver)
    unsteady = [who for who, spread in spreads.items() if who in own and spread > timed_blocks.UNSTABLE]
    if unsteady:
        names = " and ".join(session.asked.names[each] for each in unsteady)
        reason = (
            "Right, but run it again: PassNet's protocol aborts if the interquartile range of a clock exceeds"
            f" {timed_blocks.UNSTABLE:.0%} of its median, as it does for {names}."
        )
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), timed_blocks.Noise(1.0)))


# --- who is timed ----------------------------------------------------------------------------------------------------


def _compiled(asked: PreparedJob, warnings: list[str]) -> Pair:
    """The pair in the reference worker: eager and the baseline, which is compiled, or eager alone if that fails."""
    witness = asked.witness
    if asked.is_candidate:
        asked.timed.rest()
        asked.report(f"compiling with {asked.names[Contender.BASELINE]}")
        problem = _prepare_baseline(asked.preparations[CallableName.BASELINE], witness)
        if problem:
            warnings.append(f"{asked.names[Contender.BASELINE]} fails on this subgraph, so it was not timed: {problem}")
            return Pair(witness, Contender.EAGER, Contender.EAGER)
    return Pair(witness, Contender.EAGER, Contender.BASELINE)


def _fills(asked: PreparedJob) -> Fills:
    """How the inputs of timed calls are drawn."""
    specs = asked.job.subgraph.inputs
    drawn = timed_inputs.fills(specs, roles(asked.graph, specs), asked.job.spec.profile)
    return timed_inputs.fixing(drawn, specs, asked.preparations[CallableName.PASSES].weights)


def _plan(asked: PreparedJob) -> None:
    """Have everything planned that timed calls need: whoever plans rests while they are timed."""
    if asked.planned is not None:
        if asked.preparations[CallableName.PASSES].weights:
            asked.planned.weigh(CallableName.PASSES, _fills(asked), asked.seed)
        asked.planned.warm_up(CallableName.PASSES, _fills(asked), 0.0)


def _warmed_up(asked: PreparedJob, clean: Pair, warnings: list[str]) -> Contest:
    """Prepare and warm up every contender in its worker. clean: the pair in the reference worker."""
    candidate, witness, fills = asked.timed, asked.witness, _fills(asked)
    for contender in dict.fromkeys(clean.contenders):
        _warm_up(asked, witness, contender, fills)
    if not asked.is_candidate:
        return Contest(clean, None, fills)
    _warm_up(asked, candidate, Contender.PASSES, fills)
    return Contest(clean, _beside(asked, fills, warnings), fills)


def _warm_up(asked: PreparedJob, client: WorkerProcess, contender: Contender, fills: Fills) -> None:
    asked.report(f"warming up {asked.names[contender]}")
    client.warm_up(CALLABLES[contender], fills, WARM_UP_S)


def _beside(asked: PreparedJob, fills: Fills, warnings: list[str]) -> Pair:
    """The pair in the candidate worker: eager and the passes, or the passes alone if the device lacks the memory, or
    PassNet's protocol is followed."""
    candidate = asked.timed
    alone = Pair(candidate, Contender.PASSES, Contender.PASSES)
    if asked.job.spec.profile is not Profile.STRICT:
        return alone
    asked.report("warming up eager in the candidate worker")
    try:
        candidate.prepare(CallableName.EAGER, asked.preparations[CallableName.EAGER])
        candidate.warm_up(CallableName.EAGER, fills, WARM_UP_S)
    except CandidateFault as fault:
        if fault.kind != "memory":
            raise
        warnings.append(
            "Eager does not fit in the candidate worker's memory, so the passes are compared with eager in another"
            " process; two processes that run the same code may differ by 5%."
        )
        return alone
    return Pair(candidate, Contender.EAGER, Contender.PASSES)


def _prepare_baseline(preparation: Preparation, witness: WorkerProcess) -> str:
    """Compile the subgraph with Inductor. Return why that failed, or an empty string."""
    try:
        witness.prepare(CallableName.BASELINE, preparation)
        witness.run(CallableName.BASELINE)
    except CandidateFault as fault:
        return fault.text
    return ""
