"""MEASURE: eager, Inductor and the passes on the same clocks, block against block, in calls that are checked.

The children time their own calls. What makes their claims worth something is here: each call's inputs come from a seed
that nobody knew before, the referee's own clock must agree, and calls picked afterwards must have returned the truth.
"""

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.numerics.input_draws import roles
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Preparation
from passnet_core.judge.stages import checked_calls, clock_audits, timed_blocks
from passnet_core.judge.stages.clock_audits import Audit, ClockSpec, Excess, NotAudited
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PASSNET_SEED, PreparedJob
from passnet_core.judge.stages.timed_blocks import Timed
from passnet_core.judge.stages.timing_session import Contest, Runner, TimingSession
from passnet_core.judge.supervisor.device_lock import steady_core
from passnet_core.records import NOISE_FLOOR, TIMED_CALLS, Clock, Contender, Device, Evidence, Profile, Verdict

CLOCKS: tuple[ClockSpec, ...] = (
    ClockSpec(Clock.END_TO_END, audited=Audit(lenience=1.0), budget_s=0.8, scored=True, passnet=True),
    # events lie on the device, a little later than the call begins
    ClockSpec(Clock.EVENT, audited=Audit(lenience=2.0), budget_s=0.2, passnet=True),
    ClockSpec(Clock.COLD, audited=NotAudited("shown beside the event clock, for the same calls"), budget_s=0.2),
    ClockSpec(Clock.KERNEL, audited=NotAudited("shown only: a trace of calls that are not timed"), budget_s=None),
)
"""The clocks, in the order in which they are read."""

PATIENCE = 8
"""How many times a clock's budget is spent where a few blocks tell too little: the end-to-end times were unsteady, or
the clocks seem to disagree by less than the blocks do."""

BUSY = 1.3
"""How many times as long copying memory may take, while the candidate rests, as it does at best."""

WARM_UP_S = 0.1

PASSNET_WARM_UP, PASSNET_CALLS = 25, 100
PASSNET_CHUNK = 10

VALUES_ONLY = "values only: no GPU, no speedup"


def measure(asked: PreparedJob) -> Measurement:
    """Times every contender in alternating blocks. Values were verified before, with the same callables; the seeds of
    timed calls are drawn anew."""
    if asked.job.spec.device is Device.CPU:
        return Measurement(Verdict.VALUES_ONLY, "The values are right; times need a GPU.", warnings=(VALUES_ONLY,))
    warnings: list[str] = []
    contest = _warmed_up(asked, warnings)
    with steady_core() as core:
        session = TimingSession(asked, contest, warnings, core)
        return as_passnet(session) if asked.job.spec.profile is Profile.PASSNET else strictly(session)


# --- by the judge's own profile --------------------------------------------------------------------------------------


def strictly(session: TimingSession) -> Measurement:
    """Every clock in turn, each audited as it says; then calls that were picked; then the trace."""
    session.plan()
    shaky: list[Contender] = []
    unsure, busy, factor = "", 1.0, 1.0
    for spec in CLOCKS:
        if spec.budget_s is None:
            continue
        timed, unsteady, doubt = _until_clear(session, spec, patient=bool(shaky))
        if spec.scored:
            shaky, busy, factor = unsteady, session.busy(timed), timed_blocks.noise(timed.floor)
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
    reason = _inconclusive(shaky, unsure, busy)
    if reason:
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), factor))


def _until_clear(
    session: TimingSession, spec: ClockSpec, *, patient: bool
) -> tuple[Timed, list[Contender], Excess | None]:
    """Blocks on one clock, again where they are unclear, and once more where a doubt stays; whose are unsteady."""
    session.asked.report(f"timing, {spec.clock.value} clock")
    timed = session.timed(spec, patience=PATIENCE if patient else 1)
    unsteady, doubt = _unclear(timed, spec)
    crowded = session.busy(timed) > BUSY
    if unsteady or doubt or crowded:
        names = " and ".join(CALLABLES[each] for each in unsteady)
        why = f"the times of {names} were unsteady" if unsteady else "the clocks disagree"
        session.asked.report(f"timing again, since {'the device was busy' if crowded else why}")
        patient = bool(crowded or unsteady or patient or (doubt and not doubt.certain))
        timed = session.timed(spec, patience=PATIENCE if patient else 1)
        unsteady, doubt = _unclear(timed, spec)
    if doubt and not doubt.certain:
        session.asked.report("timing once more, since the clocks may disagree")
        timed = timed.with_more(session.timed(spec, patience=PATIENCE))
        unsteady, doubt = _unclear(timed, spec)
    return timed, unsteady, doubt


def _unclear(timed: Timed, spec: ClockSpec) -> tuple[list[Contender], Excess | None]:
    """Whose scored times say too little, and what the referee's own clock says against the claims."""
    return timed_blocks.unsteady(timed.claimed) if spec.scored else [], clock_audits.doubt(timed, spec)


def _note_noise(session: TimingSession, timed: Timed, factor: float) -> None:
    """Keeps what the scored clock says of the machine."""
    session.noise = factor - 1
    sentence = timed_blocks.floor_sentence(timed.floor, session.twin.client is session.witness)
    session.evidence += [Evidence(NOISE_FLOOR, sentence), clock_audits.clock_evidence(timed, session.asked.solver)]
    if any(timed_inputs.fixed(fill) for fill in session.fills):
        session.evidence.append(timed_blocks.preparing_evidence(timed, session.asked.solver))
    if timed.copying:
        session.evidence.append(timed_blocks.busy_evidence(session.busy(timed)))


def _problem_of_picked_calls(session: TimingSession) -> tuple[Verdict, str] | None:
    """What is wrong with the timed calls that were picked: their values, or the time that they claim."""
    picked = session.picked
    if session.asked.is_candidate:
        session.asked.report(f"comparing what {len(picked)} of the timed calls returned")
        problem = checked_calls.wrong_call(session.witness, session.fills, picked)
        if problem is not None:
            return problem
        said = f"{len(picked)} of them, picked at random, were compared with eager: right."
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


def _inconclusive(shaky: list[Contender], unsure: str, busy: float) -> str:
    """Why right values get no speedup; empty: they do."""
    if shaky:
        names = ", ".join(CALLABLES[each] for each in shaky)
        return f"Right, but too unsteady to time, also when repeated: {names}. Run it again on a quiet machine."
    if unsure:
        return (
            f"Right, but the clocks may disagree: by the judge's own clock {unsure}, and timing it three times did"
            " not make it certain. Run it again on a quiet machine."
        )
    if busy > BUSY:
        return (
            "Right, but something kept the device busy while eager and Inductor were timed, also when repeated:"
            f" copying memory took {busy:.1f} times as long as it can. Run it again on a quiet machine."
        )
    return ""


# --- by PassNet's protocol -------------------------------------------------------------------------------------------


def as_passnet(session: TimingSession) -> Measurement:
    """25 calls of warm-up and 100 timed ones on one drawing, the solver first; nothing is checked."""
    shaky: list[Contender] = []
    for spec in CLOCKS:
        if not spec.passnet:
            continue
        session.asked.report(f"timing, {spec.clock.value} clock, as PassNet does")
        blocks = {runner.contender: _series(session, runner, spec.clock) for runner in reversed(session.runners)}
        session.keep(spec.clock, {runner.contender: blocks[runner.contender] for runner in session.runners})
        if spec.scored:
            unstable = timed_blocks.UNSTABLE
            shaky = [who for who, each in blocks.items() if timed_blocks.spread(timed_blocks.pooled(each)) > unstable]
    if shaky:
        names = ", ".join(CALLABLES[each] for each in shaky)
        reason = f"PassNet's protocol aborts: unsteady {names}."
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
    """Every contender compiled and warmed up where it lives."""
    specs, candidate, witness = asked.job.subgraph.inputs, asked.candidate, asked.witness
    drawn = timed_inputs.fills(specs, roles(asked.graph, specs), asked.job.spec.profile)
    fills = timed_inputs.fixing(drawn, specs, asked.preparations[CallableName.PASSES].weights)
    runners = [Runner(Contender.EAGER, witness)]
    if asked.is_candidate:
        candidate.rest()
        asked.report("compiling with Inductor")
        problem = _prepare_baseline(asked.preparations[CallableName.BASELINE], witness)
        if problem:
            warnings.append(f"Inductor fails on this subgraph and was not timed: {problem}")
        else:
            runners.append(Runner(Contender.BASELINE, witness))
    runners.append(Runner(asked.solver, candidate))
    for runner in runners:
        asked.report(f"warming up {runner.name}")
        runner.client.warm_up(runner.name, fills, WARM_UP_S)
    contest = Contest(runners, runners[0], fills)
    if not asked.is_candidate or asked.job.spec.profile is not Profile.STRICT:
        return contest
    asked.report("warming up eager in the process of the passes")
    return _with_twin(contest, candidate, asked.preparations[CallableName.EAGER], warnings)


def _with_twin(contest: Contest, candidate: CandidateClient, eager: Preparation, warnings: list[str]) -> Contest:
    """With eager in the candidate, warmed up; without, where the device has too little memory for it."""
    twin = Runner(Contender.EAGER, candidate)
    try:
        candidate.prepare(twin.name, eager)
        candidate.warm_up(twin.name, contest.fills, WARM_UP_S)
    except CandidateFault as fault:
        if fault.kind != "memory":
            raise
        warnings.append("There is no memory for eager in the process of the passes: the noise floor is that of one.")
        return contest
    return Contest(contest.runners, twin, contest.fills)


def _prepare_baseline(preparation: Preparation, witness: CandidateClient) -> str:
    """Compiles Inductor's form; why it could not, or empty."""
    try:
        witness.prepare(CallableName.BASELINE, preparation)
        witness.run(CallableName.BASELINE)
    except CandidateFault as fault:
        return fault.text
    return ""
