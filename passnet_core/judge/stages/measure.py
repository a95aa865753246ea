"""MEASURE: time eager, Inductor and the passes on the same clocks, in loops of calls.

A ratio is taken between two callables that take turns in one process: the plans and an eager beside them in the
executor, Inductor and the eager beside it in the reference worker. Neither process has any host code of the bundle, so
that there is nobody who could lie about a time; what some timed calls return is compared with eager all the same."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Fills, Preparation
from passnet_core.judge.stages import checked_calls, timed_blocks
from passnet_core.judge.stages.checked_calls import Picked
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

LOOPS_S, COLD_S = 0.8, 0.1
"""How many seconds may go to more blocks than asked for, of loops and of single calls after a flush."""

PATIENCE = 8
"""By how much that is multiplied when loops are timed again, because times were unsteady."""

WARM_UP_S = 0.05
"""For how many seconds each contender is called before it is timed."""

PASSNET_CLOCKS = (Clock.END_TO_END, Clock.EVENT)
PASSNET_WARM_UP, PASSNET_CALLS = 25, 100
"""How many calls PassNet's protocol makes before it times any, and how many it times."""
PASSNET_CHUNK = 10
"""How many of PassNet's timed calls count as one block."""
PASSNET_ABORTS = 3
"""How often everything is timed anew where PassNet's protocol aborts."""

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
    """Time loops, and again if that says nothing; then single calls after a flush. Check what some calls return, and
    trace kernels."""
    names, report = session.asked.names, session.asked.report
    session.plan()
    report("timing")
    timed = session.timed(LOOPS_S)
    if unsure := _unsure(timed):
        report(f"timing again, because the times of {_named(names, unsure)} were unsteady")
        timed = session.timed(LOOPS_S * PATIENCE)
        unsure = _unsure(timed)
    scored = timed[Clock.END_TO_END]
    _note_noise(session, scored)
    report("timing with a cold cache")
    for clock, each in (*timed.items(), *session.timed(COLD_S, cold=True).items()):
        session.keep(clock, each.samples, each.speedups(clock))
    if (problem := _problem_of_picked_calls(session, session.picked())) is not None:
        return session.measurement(*problem, scored=False)
    report(f"timing, {Clock.KERNEL.value} clock")
    traced = session.trace(median(timed_blocks.pooled(scored.samples[Contender.EAGER])))
    session.keep(Clock.KERNEL, traced, _speedups(Clock.KERNEL, traced))
    if unsure or session.noise is None:
        reason = (
            f"Right, but the times of {_named(names, unsure)} were too unsteady, even when repeated. Run it again on a"
            " quiet machine."
        )
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), session.noise))


def _unsure(timed: Mapping[Clock, Timed]) -> list[Contender]:
    """The contenders whose scored speedups say nothing."""
    return timed_blocks.unsure(timed[Clock.END_TO_END].speedups(Clock.END_TO_END))


def _named(names: Mapping[Contender, str], contenders: Sequence[Contender]) -> str:
    return " and ".join(names[each] for each in contenders)


def _speedups(clock: Clock, blocks: Blocks) -> list[timed_blocks.Speedup]:
    """The speedups by the medians of these blocks."""
    found = (timed_blocks.speedup(each, clock, blocks) for each in blocks if each is not Contender.EAGER)
    return [each for each in found if each is not None]


def _note_noise(session: TimingSession, timed: Timed) -> None:
    """Keep the noise of the machine, as the scored clock shows it, with its evidence."""
    session.noise = timed_blocks.noise(timed)
    session.evidence.append(Evidence(NOISE_FLOOR, timed_blocks.noise_sentence(timed, session.noise)))


def _problem_of_picked_calls(session: TimingSession, picked: Sequence[Picked]) -> tuple[Verdict, str] | None:
    """Check what these calls returned, and that no time is impossible. Return a verdict and reason if one is."""
    if not picked:
        return None
    session.asked.report(f"comparing the outputs of {len(picked)} timed calls with eager")
    problem = checked_calls.wrong_call(session.witness, session.fills, picked)
    if problem is not None:
        return problem
    said = f"The outputs of {len(picked)} timed calls were compared with eager: all were right."
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


# --- by PassNet's protocol -------------------------------------------------------------------------------------------


def as_passnet(session: TimingSession) -> Measurement:
    """Make 25 calls to warm up and 100 timed calls on one input draw, the solver first and eager last, and read two
    clocks in each. Nothing is checked. Where PassNet aborts, everything is timed anew, a few times."""
    for attempt in range(1 + PASSNET_ABORTS):
        if attempt:
            session.asked.report("timing again, because the times spread")
        blocks = _passnet_blocks(session)
        unsteady = [each for each in (Contender.EAGER, session.asked.solver) if _spread(blocks, each)]
        if not unsteady:
            break
    for clock, found in blocks.items():
        session.keep(clock, found, _speedups(clock, found))
    if unsteady:
        reason = (
            "Right, but run it again: PassNet's protocol aborts if the interquartile range of a clock exceeds"
            f" {timed_blocks.UNSTABLE:.0%} of its median, as it does for {_named(session.asked.names, unsteady)}, in"
            f" each of {1 + PASSNET_ABORTS} attempts."
        )
        return session.measurement(Verdict.INCONCLUSIVE, reason, scored=False)
    return session.measurement(*timed_blocks.judged(session.scored_speedup(), timed_blocks.Noise(1.0)))


def _spread(blocks: Mapping[Clock, Blocks], contender: Contender) -> bool:
    """Whether a contender's times spread so much that PassNet aborts. It times no other beside the solver and eager."""
    spreads = (timed_blocks.spread(timed_blocks.pooled(found[contender])) for found in blocks.values())
    return max(spreads) > timed_blocks.UNSTABLE


def _passnet_blocks(session: TimingSession) -> dict[Clock, Blocks]:
    """The times of all contenders, eager first, by clock."""
    found: dict[Clock, Blocks] = {clock: {} for clock in PASSNET_CLOCKS}
    for contender, client in reversed(session.contest.runners.items()):
        session.asked.report(f"timing {session.asked.names[contender]} as PassNet does")
        name = CALLABLES[contender]
        client.fix([name], session.fills, PASSNET_SEED)
        both = client.passnet_times(name, PASSNET_SEED, PASSNET_WARM_UP, PASSNET_CALLS, session.core)
        for clock, samples in zip(PASSNET_CLOCKS, zip(*both, strict=True), strict=True):
            found[clock][contender] = [
                list(samples[start : start + PASSNET_CHUNK]) for start in range(0, PASSNET_CALLS, PASSNET_CHUNK)
            ]
    return {clock: {each: blocks[each] for each in session.contest.runners} for clock, blocks in found.items()}


# --- who is timed ----------------------------------------------------------------------------------------------------


def _compiled(asked: PreparedJob, warnings: list[str]) -> Pair:
    """The pair in the reference worker: eager and the baseline, which is compiled, or eager alone if that fails."""
    witness = asked.witness
    if asked.is_candidate:
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
    """Have everything planned that timed calls need, and end the process that plans: no host code of the bundle runs
    while anything is timed."""
    if asked.planned is not None:
        if asked.preparations[CallableName.PASSES].weights:
            asked.planned.weigh(CallableName.PASSES, _fills(asked), asked.seed)
        asked.planned.warm_up(CallableName.PASSES, _fills(asked), 0.0)
        asked.planned.planner.close()


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
    """The pair in the worker of what is judged: eager and the passes, or the passes alone if the device lacks the
    memory, or PassNet's protocol is followed."""
    candidate = asked.timed
    alone = Pair(candidate, Contender.PASSES, Contender.PASSES)
    if asked.job.spec.profile is not Profile.STRICT:
        return alone
    asked.report("warming up eager beside the passes")
    try:
        candidate.prepare(CallableName.EAGER, asked.preparations[CallableName.EAGER])
        candidate.warm_up(CallableName.EAGER, fills, WARM_UP_S)
    except CandidateFault as fault:
        if fault.kind != "memory":
            raise
        warnings.append(
            "Eager does not fit in the memory of the passes' process, so they are compared with eager in another"
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
