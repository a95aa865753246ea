"""MEASURE: time eager, Inductor and the passes on the same clocks, in alternating blocks of calls that are checked.

The workers time their own calls. Their claims count because the inputs of each call come from a seed that nobody knew
before, the referee's own clock must agree, and calls picked at random must have returned the right values."""

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.numerics.input_draws import roles
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Preparation
from passnet_core.judge.stages import checked_calls, clock_audits, timed_blocks
from passnet_core.judge.stages.clock_audits import Audit, ClockSpec, Excess, NotAudited
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PASSNET_SEED, PreparedJob
from passnet_core.judge.stages.timed_blocks import Timed
from passnet_core.judge.stages.timing_session import Contest, Runner, TimingSession
from passnet_core.judge.supervisor.device_lock import steady_core
from passnet_core.records import (
    CONTENDER_NAMES,
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

WARM_UP_S = 0.1
"""For how many seconds each contender is called before it is timed."""

PASSNET_WARM_UP, PASSNET_CALLS = 25, 100
"""How many calls PassNet's protocol makes before it times any, and how many it times."""
PASSNET_CHUNK = 10
"""How many of PassNet's timed calls count as one block."""

VALUES_ONLY = "values only: no GPU, no speedup"


def measure(asked: PreparedJob) -> Measurement:
    """Time every contender. VERIFY must have found the values right, with the same callables; the seeds of timed calls
    are new."""
    if asked.job.spec.device is Device.CPU:
        return Measurement(
            Verdict.VALUES_ONLY,
            "The values are right. Times need a GPU, and this job ran on the CPU.",
            warnings=(VALUES_ONLY,),
        )
    warnings: list[str] = []
    contest = _warmed_up(asked, warnings)
    with steady_core() as core:
        session = TimingSession(asked, contest, warnings, core)
        return as_passnet(session) if asked.job.spec.profile is Profile.PASSNET else strictly(session)


# --- by the judge's own profile --------------------------------------------------------------------------------------


def strictly(session: TimingSession) -> Measurement:
    """Time by every clock in turn and audit it, then check the picked calls, then trace kernels."""
    session.plan()
    too_unsteady: list[Contender] = []
    unsure, busy, factor = "", 1.0, 1.0
    for spec in CLOCKS:
        if spec.budget_s is None:
            continue
        timed, unsteady, doubt = _until_clear(session, spec, patient=bool(too_unsteady))
        if spec.scored:
            too_unsteady, busy, factor = unsteady, session.busy(timed), timed_blocks.noise(timed.floor)
            _note_noise(session, timed, factor)
        if doubt and doubt.certain:
            found = clock_audits.disagreement(doubt, timed, spec.clock, one_core=session.core is not None)
            return session.measurement(*found, scored=False)
        if doubt:
            unsure = unsure or f"{doubt.words}, compared with eager ({spec.clock.value})"
        session.keep(spec.clock, timed.claimed)
    problem = _problem_of_picked_calls(session)
    if problem is not None:
        return session.measurement(*problem, scored=False)
    session.asked.report(f"timing, {Clock.KERNEL.value} clock")
    session.keep(Clock.KERNEL, session.traced())
    session.replay()
    reason = _inconclusive(too_unsteady, unsure, busy)
    if reason:
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), factor))


def _until_clear(
    session: TimingSession, spec: ClockSpec, *, patient: bool
) -> tuple[Timed, list[Contender], Excess | None]:
    """Time blocks by one clock: again if they are unclear, and once more if the clocks may disagree.

    Returns the blocks, the contenders whose times are unsteady, and the step by which the clocks disagree, if any."""
    session.asked.report(f"timing, {spec.clock.value} clock")
    timed = session.timed(spec, patience=PATIENCE if patient else 1)
    unsteady, doubt = _unclear(timed, spec)
    busy = session.busy(timed) > BUSY
    if unsteady or doubt or busy:
        names = " and ".join(CONTENDER_NAMES[each] for each in unsteady)
        why = f"the times of {names} were unsteady" if unsteady else "the clocks disagree"
        session.asked.report(f"timing again, because {'the device was busy' if busy else why}")
        patient = bool(busy or unsteady or patient or (doubt and not doubt.certain))
        timed = session.timed(spec, patience=PATIENCE if patient else 1)
        unsteady, doubt = _unclear(timed, spec)
    if doubt and not doubt.certain:
        session.asked.report("timing once more, because the clocks may disagree")
        timed = timed.with_more(session.timed(spec, patience=PATIENCE))
        unsteady, doubt = _unclear(timed, spec)
    return timed, unsteady, doubt


def _unclear(timed: Timed, spec: ClockSpec) -> tuple[list[Contender], Excess | None]:
    """The contenders whose scored times are unsteady, and how the referee's own clock disagrees with the claims, if
    so."""
    return timed_blocks.unsteady(timed.claimed) if spec.scored else [], clock_audits.doubt(timed, spec)


def _note_noise(session: TimingSession, timed: Timed, factor: float) -> None:
    """Keep the noise of the machine, as the scored clock shows it, with its evidence."""
    session.noise = factor - 1
    sentence = timed_blocks.floor_sentence(timed.floor, session.twin.client is session.witness)
    session.evidence += [Evidence(NOISE_FLOOR, sentence), clock_audits.clock_evidence(timed, session.asked.solver)]
    if any(timed_inputs.fixed(fill) for fill in session.fills):
        session.evidence.append(timed_blocks.preparing_evidence(timed, session.asked.solver))
    if timed.copying:
        session.evidence.append(timed_blocks.busy_evidence(session.busy(timed)))


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


def _inconclusive(too_unsteady: list[Contender], unsure: str, busy: float) -> str:
    """Say why right values get no speedup, or return an empty string."""
    if too_unsteady:
        names = " and ".join(CONTENDER_NAMES[each] for each in too_unsteady)
        return (
            f"Right, but the times of {names} were too unsteady, also when repeated. Run it again on a quiet machine."
        )
    if unsure:
        return (
            f"Right, but the clocks may disagree: by the judge's own clock {unsure}. Timing it three times did not"
            " settle that. Run it again on a quiet machine."
        )
    if busy > BUSY:
        return (
            "Right, but something kept the device busy while eager and Inductor were timed, also when repeated:"
            f" copying memory took {busy:.1f} times as long as at best. Run it again on a quiet machine."
        )
    return ""


# --- by PassNet's protocol -------------------------------------------------------------------------------------------


def as_passnet(session: TimingSession) -> Measurement:
    """Make 25 calls to warm up and 100 timed calls on one input draw, the solver first. Nothing is checked."""
    too_unsteady: list[Contender] = []
    for spec in CLOCKS:
        if not spec.passnet:
            continue
        session.asked.report(f"timing, {spec.clock.value} clock, as PassNet does")
        blocks = {runner.contender: _series(session, runner, spec.clock) for runner in reversed(session.runners)}
        session.keep(spec.clock, {runner.contender: blocks[runner.contender] for runner in session.runners})
        if spec.scored:
            unstable = timed_blocks.UNSTABLE
            too_unsteady = [
                who for who, each in blocks.items() if timed_blocks.spread(timed_blocks.pooled(each)) > unstable
            ]
    if too_unsteady:
        names = " and ".join(CONTENDER_NAMES[each] for each in too_unsteady)
        reason = f"Right, but PassNet's protocol aborts, because the times of {names} are unsteady."
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), 1.0))


def _series(session: TimingSession, runner: Runner, clock: Clock) -> list[list[float]]:
    session.rest(runner)
    series = runner.client.timed_calls(runner.name, clock, session.fills, None, PASSNET_SEED)
    calls = [series.call(PASSNET_SEED, 0) for _ in range(PASSNET_WARM_UP + PASSNET_CALLS)]
    series.end()
    samples = [call.claimed_us for call in calls[PASSNET_WARM_UP:]]
    return [samples[start : start + PASSNET_CHUNK] for start in range(0, PASSNET_CALLS, PASSNET_CHUNK)]


# --- who is timed ----------------------------------------------------------------------------------------------------


def _warmed_up(asked: PreparedJob, warnings: list[str]) -> Contest:
    """Prepare and warm up every contender in its worker."""
    specs, candidate, witness = asked.job.subgraph.inputs, asked.candidate, asked.witness
    drawn = timed_inputs.fills(specs, roles(asked.graph, specs), asked.job.spec.profile)
    fills = timed_inputs.fixing(drawn, specs, asked.preparations[CallableName.PASSES].weights)
    runners = [Runner(Contender.EAGER, witness)]
    if asked.is_candidate:
        candidate.rest()
        asked.report("compiling with Inductor")
        problem = _prepare_baseline(asked.preparations[CallableName.BASELINE], witness)
        if problem:
            warnings.append(f"Inductor fails on this subgraph, so it was not timed: {problem}")
        else:
            runners.append(Runner(Contender.BASELINE, witness))
    runners.append(Runner(asked.solver, candidate))
    for runner in runners:
        asked.report(f"warming up {CONTENDER_NAMES[runner.contender]}")
        runner.client.warm_up(runner.name, fills, WARM_UP_S)
    contest = Contest(runners, runners[0], fills)
    if not asked.is_candidate or asked.job.spec.profile is not Profile.STRICT:
        return contest
    asked.report("warming up eager in the candidate worker")
    return _with_twin(contest, candidate, asked.preparations[CallableName.EAGER], warnings)


def _with_twin(contest: Contest, candidate: CandidateClient, eager: Preparation, warnings: list[str]) -> Contest:
    """Add eager in the candidate worker, for the noise floor between processes, unless the device lacks the memory."""
    twin = Runner(Contender.EAGER, candidate)
    try:
        candidate.prepare(twin.name, eager)
        candidate.warm_up(twin.name, contest.fills, WARM_UP_S)
    except CandidateFault as fault:
        if fault.kind != "memory":
            raise
        warnings.append(
            "There is no memory for eager in the candidate worker, so the noise floor leaves out how processes differ."
        )
        return contest
    return Contest(contest.runners, twin, contest.fills)


def _prepare_baseline(preparation: Preparation, witness: CandidateClient) -> str:
    """Compile the subgraph with Inductor. Return why that failed, or an empty string."""
    try:
        witness.prepare(CallableName.BASELINE, preparation)
        witness.run(CallableName.BASELINE)
    except CandidateFault as fault:
        return fault.text
    return ""
