"""MEASURE: eager, Inductor and the passes on the same clocks, block against block, in calls that are checked.

The children time their own calls. What makes their claims worth something is here: each call's inputs come from a seed
that nobody knew before, the referee's own clock must agree, and calls picked afterwards must have returned the truth.
"""

import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

import torch

from passnet_core.graphs.ir import Graph
from passnet_core.judge import rounds
from passnet_core.judge.candidacy import (
    Call,
    CandidateClient,
    CandidateFault,
    Fills,
    Measurement,
    Preparation,
    Returned,
)
from passnet_core.judge.device_lock import steady_core
from passnet_core.judge.inputs import roles
from passnet_core.records import (
    MEMORY_FLOOR,
    NOISE_FLOOR,
    OWN_CLOCK,
    REPLAY,
    TIMED_CALLS,
    Clock,
    Contender,
    Device,
    Evidence,
    Job,
    Profile,
    Solver,
    Speedup,
    Timing,
    Verdict,
)
from passnet_core.scoring.intervals import Interval, median_interval

WARM_UP_S = 0.1
CALLS = 40
"""Timed calls per block, as long as a block stays below LONGEST_BLOCK_S."""
LEAST_CALLS = 5
LONGEST_BLOCK_S = 0.05
LEAD_US = 2_000.0
LEAD_CALLS = (2, 40)
"""Calls at the start of a block that do not count, for about so long: another process had the device until now."""
BUDGET_S = {Clock.END_TO_END: 0.8, Clock.EVENT: 0.2, Clock.COLD: 0.2}
"""More blocks than asked for are taken until this is spent."""
PATIENCE = 8
"""How many times as much is spent where a few blocks tell too little: the end-to-end times were unsteady, or the
clocks seem to disagree by less than the blocks do."""
MOST_BLOCKS = 25
SETTLED = (8, 4)
"""From so many blocks on, and then after every so many, no more are taken where all is settled."""
TRACED_BLOCKS, TRACED_CALLS = 2, 20

CHECKED = 6
"""Timed calls whose outputs are compared, as long as these stay below CHECKED_BYTES together."""
CHECKED_BYTES = 256 << 20

UNSTABLE = 0.2
"""Interquartile range over median from which PassNet aborts: for it, of all calls; here, within the median block."""
UNSURE = 1.3
"""Ratio of the ends of the interval of an end-to-end speedup from which it says too little."""


@dataclass(frozen=True)
class Step:
    """One of the steps around a timed call, by the referee's clock. taken: microseconds beyond what was claimed.

    Compared with eager's, these may be longer or shorter by so many microseconds, this share of eager's time for a
    call, and this share of what the step takes for eager.
    """

    name: str
    taken: Callable[[Call], float]
    microseconds: float
    share: float
    noise: float
    more: str
    less: str = ""


LENIENCE = {Clock.END_TO_END: 1.0, Clock.EVENT: 2.0}
"""How many times as much may lie beside the claim: events lie on the device, a little later than the call begins."""

STEPS = (
    Step(
        "the call", lambda call: call.calling_us - call.claimed_us, 4.0, 0.01, 0.25,
        "each takes {} µs more than that",
    ),
    Step(
        "drawing", lambda call: call.drawing_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more before each", "it draws inputs in {} µs less",
    ),
    Step(
        "reading", lambda call: call.digesting_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more after each", "it reads what was returned in {} µs less",
    ),
)  # fmt: skip

BUSY = 1.3
"""How many times as long copying memory may take, while the candidate rests, as it does at best."""

IMPOSSIBLE = 0.5
"""Of the time that writing the outputs takes at the speed of a copy: nothing is done in less."""

PASSNET_WARM_UP, PASSNET_CALLS, PASSNET_SEED = 25, 100, 1024
PASSNET_CHUNK = 10

NAMES = {Contender.EAGER: "eager", Contender.BASELINE: "baseline", Contender.PASSES: "passes"}

APART = 1.04
"""The least factor that counts as a difference: two processes that run the same code often differ by as much, steadily
(docs/figures.md), and by how much these two do is known no better."""

VALUES_ONLY = "values only: no GPU, no speedup"

Blocks = dict[Contender, list[list[float]]]


@dataclass(frozen=True)
class Runner:
    """One contender where it lives."""

    contender: Contender
    client: CandidateClient

    @property
    def name(self) -> str:
        return NAMES[self.contender]


@dataclass(frozen=True)
class Picked:
    """A timed call to be checked: its seeds, the digest it sent, and what it says it returned."""

    weights: int
    seed: int
    digest: int
    returned: Returned


@dataclass(frozen=True)
class Block:
    """The calls of a block."""

    calls: list[Call]
    begun_us: float = 0.0

    @property
    def claimed(self) -> list[float]:
        """Microseconds of each call by the child's clock."""
        return [call.claimed_us for call in self.calls]

    def taken(self, step: Step) -> float:
        """Microseconds of the step, beyond what was claimed."""
        return median(step.taken(call) for call in self.calls)


@dataclass(frozen=True)
class Doubt:
    """A step that takes more or less than is allowed, compared with eager. certain: so does its whole interval."""

    step: Step
    more: Interval
    certain: bool

    @property
    def words(self) -> str:
        return (self.step.more if self.more.value > 0 else self.step.less).format(f"{abs(self.more.value):.1f}")


@dataclass
class Timed:
    """All blocks on one clock. again: end to end, eager's second block of each turn, a measure of noise: in the process
    of the passes, where there are some, for processes that run the same code differ. copying: bytes per microsecond
    that a copy moved, whenever the candidate had come to rest."""

    blocks: dict[Contender, list[Block]] = field(default_factory=dict)
    again: list[Block] = field(default_factory=list)
    copying: list[float] = field(default_factory=list)

    @property
    def claimed(self) -> Blocks:
        return {contender: [block.claimed for block in blocks] for contender, blocks in self.blocks.items()}

    def with_more(self, other: "Timed") -> "Timed":
        """These blocks and those of another time."""
        blocks = {contender: found + other.blocks[contender] for contender, found in self.blocks.items()}
        return Timed(blocks, self.again + other.again, self.copying + other.copying)


def measure(
    job: Job,
    graph: Graph,
    preparations: Mapping[str, Preparation],
    candidate: CandidateClient,
    witness: CandidateClient,
    *,
    seed: int,
    report: Callable[[str], None],
) -> Measurement:
    """Times every contender in alternating blocks. Values were verified before, with the same callables.

    seed: of the verification; the seeds of timed calls are drawn anew.
    """
    if job.spec.device is Device.CPU:
        return Measurement(Verdict.VALUES_ONLY, "The values are right; times need a GPU.", warnings=(VALUES_ONLY,))
    specs = job.subgraph.inputs
    drawn = rounds.fills(specs, roles(graph, specs), job.spec.profile)
    fills = rounds.fixing(drawn, specs, preparations["passes"].weights)
    warnings: list[str] = []
    runners = [Runner(Contender.EAGER, witness)]
    if job.solver is Solver.INDUCTOR:
        runners.append(Runner(Contender.BASELINE, candidate))
    else:
        candidate.rest()
        report("compiling with Inductor")
        problem = _prepare_baseline(preparations["baseline"], witness)
        if problem:
            warnings.append(f"Inductor fails on this subgraph and was not timed: {problem}")
        else:
            runners.append(Runner(Contender.BASELINE, witness))
        runners.append(Runner(Contender.PASSES, candidate))
    for runner in runners:
        report(f"warming up {runner.name}")
        runner.client.warm_up(runner.name, fills, WARM_UP_S)
    twin = runners[0]
    if job.solver is not Solver.INDUCTOR and job.spec.profile is Profile.STRICT:
        report("warming up eager in the process of the passes")
        twin = _twin(candidate, preparations["eager"], fills, warnings) or twin
    with steady_core() as core:
        session = _Session(job, runners, twin, fills, candidate, witness, warnings, report, core)
        return session.as_passnet() if job.spec.profile is Profile.PASSNET else session.strictly()


def _twin(candidate: CandidateClient, eager: Preparation, fills: Fills, warnings: list[str]) -> Runner | None:
    """Eager in the candidate, warmed up; None where the device has too little memory for it."""
    twin = Runner(Contender.EAGER, candidate)
    try:
        candidate.prepare(twin.name, eager)
        candidate.warm_up(twin.name, fills, WARM_UP_S)
    except CandidateFault as fault:
        if fault.kind != "memory":
            raise
        warnings.append("There is no memory for eager in the process of the passes: the noise floor is that of one.")
        return None
    return twin


def _prepare_baseline(preparation: Preparation, witness: CandidateClient) -> str:
    """Compiles Inductor's form; why it could not, or empty."""
    try:
        witness.prepare("baseline", preparation)
        witness.run("baseline")
    except CandidateFault as fault:
        return fault.text
    return ""


class _Session:
    """The measurement of one job."""

    def __init__(
        self,
        job: Job,
        runners: Sequence[Runner],
        twin: Runner,
        fills: Fills,
        candidate: CandidateClient,
        witness: CandidateClient,
        warnings: list[str],
        report: Callable[[str], None],
        core: int | None,
    ) -> None:
        self.job = job
        self.runners = runners
        self.twin = twin
        self.fills = fills
        self.candidate = candidate
        self.witness = witness
        self.resting = False
        self.warnings = warnings
        self.report = report
        self.chance = random.Random(secrets.randbits(64))
        self.core = core
        self.own = Contender.BASELINE if job.solver is Solver.INDUCTOR else Contender.PASSES
        self.picked: list[Picked] = []
        self.wanted = CHECKED
        self.timings: list[Timing] = []
        self.speedups: list[Speedup] = []
        self.evidence: list[Evidence] = []
        self.noise: float | None = None

    # --- strict ---

    def strictly(self) -> Measurement:
        cost_us, calls = self._plan()
        floor = Interval(1.0, 1.0, 1.0)
        shaky: list[Contender] = []
        unsure = ""
        busy = 1.0
        for clock in (Clock.END_TO_END, Clock.EVENT, Clock.COLD):
            self.report(f"timing, {clock.value} clock")
            timed = self._timed(clock, calls, cost_us, PATIENCE if shaky else 1)
            shaken, doubt = self._doubts(timed, clock)
            crowded = self._busy(timed) > BUSY
            if shaken or doubt or crowded:
                names = " and ".join(NAMES[each] for each in shaken)
                why = f"the times of {names} were unsteady" if shaken else "the clocks disagree"
                why = "the device was busy" if crowded else why
                self.report(f"timing again, since {why}")
                unclear = crowded or shaken or shaky or (doubt and not doubt.certain)
                timed = self._timed(clock, calls, cost_us, PATIENCE if unclear else 1)
                shaken, doubt = self._doubts(timed, clock)
            if doubt and not doubt.certain:
                self.report("timing once more, since the clocks may disagree")
                timed = timed.with_more(self._timed(clock, calls, cost_us, PATIENCE))
                shaken, doubt = self._doubts(timed, clock)
            if clock is Clock.END_TO_END:
                floor = _floor(timed)
                self.noise = noise(floor) - 1
                self.evidence.append(Evidence(NOISE_FLOOR, _floor_sentence(floor, self.twin.client is self.witness)))
                self.evidence.append(_clock_evidence(timed, self.own))
                if any(rounds.fixed(fill) for fill in self.fills):
                    self.evidence.append(_preparing_evidence(timed, self.own))
                shaky = shaken
                busy = self._busy(timed)
                if timed.copying:
                    self.evidence.append(_busy_evidence(busy))
            if doubt and doubt.certain:
                return self._measurement(*self._hidden(doubt, timed, clock), scored=False)
            if doubt:
                unsure = unsure or f"{doubt.words}, compared with eager ({clock.value})"
            self._keep(clock, timed.claimed)
        found = self._problem_of_values() or self._problem_of_bytes()
        if found is not None:
            return found
        self.report(f"timing, {Clock.KERNEL.value} clock")
        self._keep(Clock.KERNEL, self._traced())
        self._replayed()
        if shaky:
            names = ", ".join(NAMES[each] for each in shaky)
            reason = f"Right, but too unsteady to time, also when repeated: {names}. Run it again on a quiet machine."
            return self._measurement(Verdict.INCONCLUSIVE, reason, scored=False)
        if unsure:
            reason = (
                f"Right, but the clocks may disagree: by the judge's own clock {unsure}, and timing it three times did"
                " not make it certain. Run it again on a quiet machine."
            )
            return self._measurement(Verdict.INCONCLUSIVE, reason, scored=False)
        if busy > BUSY:
            reason = (
                "Right, but something kept the device busy while eager and Inductor were timed, also when repeated:"
                f" copying memory took {busy:.1f} times as long as it can. Run it again on a quiet machine."
            )
            return self._measurement(Verdict.INCONCLUSIVE, reason, scored=False)
        own = next(each for each in self.speedups if each.contender is self.own and each.clock is Clock.END_TO_END)
        return self._measurement(*judged(own, noise(floor)))

    def _plan(self) -> tuple[float, int]:
        """(microseconds that a timed call costs in all, how many make a block), by the slowest contender."""
        costs = []
        for runner in self.runners:
            self._rest(runner)
            probe = self._block(runner, Clock.END_TO_END, LEAST_CALLS, 2)
            costs.append(median(call.waited_us for call in probe.calls))
        cost_us = max(costs)
        calls = max(LEAST_CALLS, min(CALLS, int(LONGEST_BLOCK_S * 1e6 / max(cost_us, 1.0))))
        if calls < CALLS:
            self.warnings.append(f"One call is slow: blocks of {calls} calls instead of {CALLS}.")
        return cost_us, calls

    def _timed(self, clock: Clock, calls: int, cost_us: float, patience: int) -> Timed:
        """Blocks in ABBA order: as many as were asked for, and more while they are cheap and tell more."""
        timed = Timed({runner.contender: [] for runner in self.runners})
        lead = max(LEAD_CALLS[0], min(LEAD_CALLS[1], int(LEAD_US / max(cost_us, 1.0))))
        order = [*self.runners, self.twin] if clock is Clock.END_TO_END else list(self.runners)
        turn_us = (calls + lead) * cost_us * len(order)
        affordable = int(patience * BUDGET_S[clock] * 1e6 / max(turn_us, 1.0))
        asked = self.job.spec.trials
        for turn in range(max(asked, min(MOST_BLOCKS, affordable))):
            if turn >= max(asked, SETTLED[0]) and turn % SETTLED[1] == 0 and self._settled(timed, clock):
                break
            places = range(len(order)) if turn % 2 == 0 else reversed(range(len(order)))
            for place in places:
                runner = order[place]
                if self._rest(runner) and clock is Clock.END_TO_END:
                    timed.copying += filter(None, [self.witness.copying()])
                block = self._block(runner, clock, calls, lead)
                (timed.blocks[runner.contender] if place < len(self.runners) else timed.again).append(block)
        return timed

    def _block(self, runner: Runner, clock: Clock, calls: int, lead: int) -> Block:
        """One block of calls; at random, some of the solver's are remembered to be checked."""
        picked = self._picked(runner, calls + lead)
        weights = self.chance.getrandbits(62)
        series = runner.client.rounds(runner.name, clock, self.fills, self.core, weights)
        made: list[tuple[int, int]] = []
        block = Block([], series.begun_us)
        for index, (seed, slot) in enumerate(self._inputs(calls + lead)):
            call = series.call(seed, slot, keep_last=index - 1 in picked)
            made.append((seed, call.digest))
            if index >= lead:
                block.calls.append(call)
        returned = series.end(keep_last=calls + lead - 1 in picked)
        self.picked += [Picked(weights, *made[index], each) for index, each in zip(sorted(picked), returned)]
        if returned and _bytes(returned) > CHECKED_BYTES // CHECKED:
            self.wanted = 2
        return block

    def _rest(self, runner: Runner) -> bool:
        """Has the candidate rest while another's calls are timed; whether it has just come to rest."""
        trusted = runner.client is self.witness
        came_to_rest = trusted and not self.resting and self.candidate is not self.witness
        if came_to_rest:
            self.candidate.rest()
        self.resting = trusted
        return came_to_rest

    def _busy(self, timed: Timed) -> float:
        """How many times as long copying memory took, while the candidate rested, as it does at best: what that had
        left to the device goes on, and shares it with whoever is timed."""
        if not timed.copying:
            return 1.0
        speed = self.witness.facts().get("bytes_per_us")
        return speed / median(timed.copying) if isinstance(speed, float) else 1.0

    def _picked(self, runner: Runner, calls: int) -> set[int]:
        """Which calls of this block will be asked for: at most one in a block, in about half of the first blocks."""
        if runner.contender is not Contender.PASSES or len(self.picked) >= self.wanted or self.chance.random() < 0.5:
            return set()
        return {self.chance.randrange(calls)}

    def _inputs(self, count: int) -> Iterator[tuple[int, int]]:
        """Seeds and slots: ever new content in the same places, and now and then the same content in another."""
        seed, slot = self.chance.getrandbits(62), 0
        for _ in range(count):
            if self.chance.random() < 7 / 8:
                seed = self.chance.getrandbits(62)
            slot = (slot + self.chance.randrange(1, rounds.SLOTS)) % rounds.SLOTS
            yield seed, slot

    # --- what is checked ---

    def _doubts(self, timed: Timed, clock: Clock) -> tuple[list[Contender], Doubt | None]:
        """Whose end-to-end times say too little, and what the referee's own clock says against the claims. The time
        between the device events is claimed like any other: work outside them shows in the same calls."""
        shaken = unsteady(timed.claimed) if clock is Clock.END_TO_END else []
        return shaken, self._doubt(timed, clock) if clock in LENIENCE else None

    def _doubt(self, timed: Timed, clock: Clock) -> Doubt | None:
        """The surest sign that the candidate takes longer than it claims, beyond what eager does, or does more or less
        around its calls."""
        found = [
            Doubt(step, more, more.low > allowed or more.high < -allowed)
            for step, more, allowed in self._beside(timed, clock)
            if more.value > allowed or (step.less and more.value < -allowed)
        ]
        return max(found, key=lambda each: each.certain, default=None)

    def _beside(self, timed: Timed, clock: Clock) -> Iterator[tuple[Step, Interval, float]]:
        """Of each step around the candidate's calls: by how many microseconds it is longer than eager's, and may be."""
        if self.own is not Contender.PASSES:
            return
        eager, own = timed.blocks[Contender.EAGER], timed.blocks[self.own]
        reference = median(_pooled(timed.claimed[Contender.EAGER]))
        for step in STEPS:
            base = median(its.taken(step) for its in eager)
            more = median_interval([mine.taken(step) - its.taken(step) for mine, its in zip(own, eager)])
            yield step, more, LENIENCE[clock] * (step.microseconds + step.share * reference + step.noise * base)

    def _settled(self, timed: Timed, clock: Clock) -> bool:
        """Whether more blocks would tell nothing: each ratio is known as closely as processes are alike, and no step
        of the candidate's can be longer or shorter than it may be."""
        claimed = timed.claimed
        ratios: list[Speedup | Interval | None] = [
            speedup(each, clock, claimed) for each in claimed if each is not Contender.EAGER
        ]
        if timed.again:
            ratios.append(_floor(timed))
        if any(each is None or each.high > APART * each.low for each in ratios):
            return False
        if any(_spread_out(blocks) for blocks in claimed.values()):
            return False
        return clock not in LENIENCE or all(
            more.high <= allowed and (not step.less or more.low >= -allowed)
            for step, more, allowed in self._beside(timed, clock)
        )

    def _hidden(self, doubt: Doubt, timed: Timed, clock: Clock) -> tuple[Verdict, str]:
        """What the doubt means. Where the children share no core of their own, one of them may just have had the
        slower one."""
        claim = median(_pooled(timed.claimed[self.own]))
        facts = (
            f"its process claims {claim:.1f} µs a call ({clock.value}), but by the judge's own clock {doubt.words},"
            " compared with eager, also when measured again."
        )
        around = sum(median(its.taken(step) for its in timed.blocks[Contender.EAGER]) for step in STEPS)
        if self.core is None and abs(doubt.more.value) < around:
            return Verdict.INCONCLUSIVE, f"Right, but the clocks disagree, as they may with few cores: {facts}"
        return Verdict.CHEAT, f"The clocks disagree: {facts}"

    def _problem_of_values(self) -> Measurement | None:
        """What is wrong with the timed calls that were picked."""
        if self.own is not Contender.PASSES:
            return None
        self.report(f"comparing what {len(self.picked)} of the timed calls returned")
        for each in self.picked:
            found = self.witness.checked(self.fills, each.weights, each.seed, each.returned)
            if found.digest != each.digest:
                reason = "What a timed call returned is not what it sent the digest of: it was computed afterwards."
                return self._measurement(Verdict.CHEAT, reason, scored=False)
            if found.verdict is not None:
                reason = f"A timed call returned something wrong, though the values were right before: {found.problem}."
                return self._measurement(found.verdict, reason, scored=False)
        self.evidence.append(
            Evidence(TIMED_CALLS, f"{len(self.picked)} of them, picked at random, were compared with eager: right.")
        )
        return None

    def _problem_of_bytes(self) -> Measurement | None:
        """A cheat, where the outputs cannot even be written in the time that is claimed, though eager takes it."""
        facts = self.witness.facts()
        speed, cache = facts.get("bytes_per_us"), facts.get("l2_bytes")
        if not (self.picked and isinstance(speed, float) and speed > 0 and isinstance(cache, int)):
            return None
        written = _bytes([self.picked[0].returned])
        read = sum(rounds.bytes_of(fill) for fill in self.fills)
        self.evidence.append(
            Evidence(
                MEMORY_FLOOR,
                f"{(read + written) / 1e6:.3g} MB read and written once take {(read + written) / speed:.1f} µs"
                f" at this device's {speed / 1e3:.0f} GB/s, measured by a copy.",
                (("moved_bytes", float(read + written)), ("bytes_per_us", speed)),
            )
        )
        least = IMPOSSIBLE * max(0, written - cache) / speed
        claims = {
            who: min(each.median for each in self.timings if each.contender is who)
            for who in (Contender.PASSES, Contender.EAGER)
        }
        if claims[Contender.PASSES] >= least or claims[Contender.EAGER] < least:
            return None
        reason = (
            f"It claims {claims[Contender.PASSES]:.1f} µs a call, but its outputs cannot be written in less than"
            f" {least:.1f} µs on this device."
        )
        return self._measurement(Verdict.CHEAT, reason, scored=False)

    # --- kernels ---

    def _traced(self) -> Blocks:
        blocks: Blocks = {runner.contender: [] for runner in self.runners}
        for turn in range(TRACED_BLOCKS):
            for runner in self.runners if turn % 2 == 0 else self.runners[::-1]:
                self._rest(runner)
                samples = runner.client.kernels(runner.name, self.fills, self.chance.getrandbits(62), TRACED_CALLS)
                blocks[runner.contender].append(samples)
        return blocks

    def _replayed(self) -> None:
        """The replay of each as a CUDA graph, where it captures: what is left without launch and dispatch."""
        words, figures = [], []
        for runner in self.runners:
            self._rest(runner)
            try:
                found = runner.client.replay(runner.name, self.fills, self.chance.getrandbits(62))
            except CandidateFault:
                found = None
            words.append(f"{runner.name} {f'{found:.1f} µs' if found is not None else 'cannot be captured'}")
            if found is not None:
                figures.append((runner.contender.value, found))
        self.evidence.append(Evidence(REPLAY, ", ".join(words) + ".", tuple(figures)))

    # --- PassNet's protocol ---

    def as_passnet(self) -> Measurement:
        """25 calls of warm-up and 100 timed ones on one drawing, the solver first; nothing is checked."""
        shaky: list[Contender] = []
        for clock in (Clock.END_TO_END, Clock.EVENT):
            self.report(f"timing, {clock.value} clock, as PassNet does")
            blocks: Blocks = {}
            for runner in reversed(self.runners):
                self._rest(runner)
                series = runner.client.rounds(runner.name, clock, self.fills, None, PASSNET_SEED)
                calls = [series.call(PASSNET_SEED, 0) for _ in range(PASSNET_WARM_UP + PASSNET_CALLS)]
                series.end()
                samples = [call.claimed_us for call in calls[PASSNET_WARM_UP:]]
                blocks[runner.contender] = [
                    samples[start : start + PASSNET_CHUNK] for start in range(0, PASSNET_CALLS, PASSNET_CHUNK)
                ]
            self._keep(clock, {runner.contender: blocks[runner.contender] for runner in self.runners})
            if clock is Clock.END_TO_END:
                shaky = [who for who, each in blocks.items() if _spread(_pooled(each)) > UNSTABLE]
        if shaky:
            names = ", ".join(NAMES[each] for each in shaky)
            reason = f"PassNet's protocol aborts: unsteady {names}."
            return self._measurement(Verdict.INCONCLUSIVE, reason, scored=False)
        own = next(each for each in self.speedups if each.contender is self.own and each.clock is Clock.END_TO_END)
        return self._measurement(*judged(own, 1.0))

    # --- results ---

    def _keep(self, clock: Clock, blocks: Blocks) -> None:
        self.timings += [timing(contender, clock, found) for contender, found in blocks.items()]
        for contender in blocks:
            if contender is not Contender.EAGER:
                found = speedup(contender, clock, blocks)
                self.speedups += [found] if found is not None else []

    def _measurement(self, verdict: Verdict, reason: str, *, scored: bool = True) -> Measurement:
        return Measurement(
            verdict,
            reason,
            tuple(self.timings),
            tuple(self.speedups) if scored else (),
            tuple(self.warnings),
            tuple(self.evidence),
            self.noise,
        )


def _bytes(returned: Sequence[Returned]) -> int:
    return max(
        sum(output.value.nbytes for output in each.outputs if isinstance(output.value, torch.Tensor))
        for each in returned
    )


def _pooled(blocks: Sequence[Sequence[float]]) -> list[float]:
    return [sample for block in blocks for sample in block]


def unsteady(blocks: Mapping[Contender, Sequence[Sequence[float]]]) -> list[Contender]:
    """Whose times say too little: calls spread within a block, or block ratios to eager differ.

    A drift of the whole machine from block to block is not counted: it is the same for all.
    """
    found = []
    for contender, each in blocks.items():
        ratios = speedup(contender, Clock.END_TO_END, blocks)
        unsure = contender is not Contender.EAGER and ratios is not None and ratios.high > UNSURE * ratios.low
        if unsure or _spread_out(each):
            found.append(contender)
    return found


def _spread_out(blocks: Sequence[Sequence[float]]) -> bool:
    return median(_spread(block) for block in blocks) > UNSTABLE


def _spread(block: Sequence[float]) -> float:
    """Interquartile range over median."""
    low, middle, high = quantiles(block, n=4)
    return (high - low) / middle if middle > 0 else 0.0


def timing(contender: Contender, clock: Clock, blocks: Sequence[Sequence[float]]) -> Timing:
    samples = tuple(_pooled(blocks))
    return Timing(contender, clock, samples, len(blocks), median(samples))


def speedup(
    contender: Contender, clock: Clock, blocks: Mapping[Contender, Sequence[Sequence[float]]]
) -> Speedup | None:
    """Eager's block medians over the contender's, block by block; None where a clock saw nothing at all."""
    pairs = [(median(eager), median(own)) for eager, own in zip(blocks[Contender.EAGER], blocks[contender])]
    ratios = [eager / own for eager, own in pairs if eager > 0 and own > 0]
    if not ratios:
        return None
    interval = median_interval(ratios)
    return Speedup(contender, clock, interval.value, interval.low, interval.high)


def judged(found: Speedup, floor: float) -> tuple[Verdict, str]:
    """The verdict that an end-to-end speedup and its interval stand for. floor: the factor that means nothing."""
    shown = f"{found.value:.2f} times eager's speed end to end (95% interval {found.low:.2f} to {found.high:.2f})"
    if found.low > 1 and found.value > floor:
        return Verdict.FASTER, f"Right, and faster: {shown}."
    if found.high < 1 and found.value < 1 / floor:
        return Verdict.SLOWER, f"Right, but slower: {shown}."
    beyond = found.low > 1 or found.high < 1
    within = f", which is within the noise: eager differs from eager by up to {floor - 1:.0%}" if beyond else ""
    return Verdict.NO_DIFFERENCE, f"Right, with no measurable difference: {shown}{within}."


def noise(floor: Interval) -> float:
    """The factor that means nothing. floor: of eager against eager."""
    return max(floor.high, 1 / floor.low, APART)


def _clock_evidence(timed: Timed, own: Contender) -> Evidence:
    words = []
    for step in STEPS:
        eager, mine = (median(each.taken(step) for each in timed.blocks[who]) for who in (Contender.EAGER, own))
        words.append(f"{step.name} {eager:.1f} µs for eager and {mine:.1f} µs for {NAMES[own]}")
    return Evidence(OWN_CLOCK, f"Beyond what is claimed for a call: {', '.join(words)}.")


def _busy_evidence(busy: float) -> Evidence:
    text = f"While eager and Inductor were timed, copying memory took {busy:.2f} times as long as it does at best."
    return Evidence("the device beside the pass", text)


def _preparing_evidence(timed: Timed, own: Contender) -> Evidence:
    eager, mine = (median(each.begun_us for each in timed.blocks[who]) for who in (Contender.EAGER, own))
    return Evidence(
        "prepare(weights)",
        f"Beginning with new weights takes {mine:.0f} µs, and {eager:.0f} µs for eager, by the judge's own clock. It is"
        " done once for a block of calls, and is no part of their time.",
    )


def _floor(timed: Timed) -> Interval:
    first = timed.blocks[Contender.EAGER]
    return median_interval([median(a.claimed) / median(b.claimed) for a, b in zip(first, timed.again)])


def _floor_sentence(interval: Interval, same_process: bool) -> str:
    which = "itself" if same_process else "eager in the process of the passes"
    return (
        f"Eager against {which}, end to end: {interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f});"
        f" less than {APART - 1:.0%} never counts as a difference."
    )
