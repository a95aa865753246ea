"""MEASURE: eager, Inductor and the passes on three clocks, block against block."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from passnet_core.graphs.ir import Graph
from passnet_core.judge.candidacy import CandidateClient, CandidateFault, Measurement, Preparation
from passnet_core.judge.inputs import draw, roles
from passnet_core.records import Clock, Contender, Device, Evidence, Job, Solver, Speedup, Timing, Verdict
from passnet_core.scoring.intervals import median_interval

WARM_UP_S = 0.4
CALLS = 40
"""Timed calls per block, as long as a block stays below LONGEST_BLOCK_S."""
LEAST_CALLS = 10
LONGEST_BLOCK_S = 2.0
UNSTABLE = 0.2
"""Interquartile range over median from which PassNet aborts; here the blocks are repeated once."""

NAMES = {Contender.EAGER: "eager", Contender.BASELINE: "baseline", Contender.PASSES: "passes"}

VALUES_ONLY = "values only: no GPU, no speedup"

Blocks = dict[Contender, list[list[float]]]


@dataclass(frozen=True)
class Runner:
    """One contender where it lives."""

    contender: Contender
    client: CandidateClient

    def warm_up(self) -> None:
        self.client.warm_up(NAMES[self.contender], WARM_UP_S)

    def block(self, clock: Clock, calls: int) -> list[float]:
        return self.client.block(NAMES[self.contender], clock, calls)


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
    """Times every contender in alternating blocks. Values were verified before, with the same callables."""
    if job.spec.device is Device.CPU:
        return Measurement(Verdict.VALUES_ONLY, "The values are right; times need a GPU.", warnings=(VALUES_ONLY,))
    specs = job.subgraph.inputs
    inputs = draw(specs, "recorded", seed, roles=roles(graph, specs))
    witness.give(inputs)
    if candidate is not witness:
        candidate.give(inputs)
    warnings: list[str] = []
    runners = [Runner(Contender.EAGER, witness)]
    if job.solver is Solver.INDUCTOR:
        runners.append(Runner(Contender.BASELINE, candidate))
    else:
        report("compiling with Inductor")
        problem = _prepare_baseline(preparations["baseline"], witness)
        if problem:
            warnings.append(f"Inductor fails on this subgraph and was not timed: {problem}")
        else:
            runners.append(Runner(Contender.BASELINE, witness))
        runners.append(Runner(Contender.PASSES, candidate))
    for runner in runners:
        report(f"warming up {NAMES[runner.contender]}")
        runner.warm_up()
    return _measured(job, runners, warnings, report)


def _prepare_baseline(preparation: Preparation, witness: CandidateClient) -> str:
    """Compiles Inductor's form; why it could not, or empty."""
    try:
        witness.prepare("baseline", preparation)
        witness.run("baseline")
    except CandidateFault as fault:
        return fault.text
    return ""


def _measured(job: Job, runners: Sequence[Runner], warnings: list[str], report: Callable[[str], None]) -> Measurement:
    calls = _affordable_calls(runners)
    if calls < CALLS:
        warnings.append(f"One call is slow: blocks of {calls} calls instead of {CALLS}.")
    timings: list[Timing] = []
    speedups: list[Speedup] = []
    evidence: list[Evidence] = []
    for clock in Clock:
        report(f"timing, {clock.value} clock")
        blocks, floor = _timed(runners, clock, job.spec.trials, calls)
        if clock is Clock.END_TO_END:
            if unstable(blocks):
                blocks, floor = _timed(runners, clock, job.spec.trials, calls)
            shaky = unstable(blocks)
            if shaky:
                warnings.append(f"Unstable measurement of {', '.join(NAMES[each] for each in shaky)}, also repeated.")
            evidence.append(Evidence("noise floor", _floor_sentence(blocks[Contender.EAGER], floor)))
        timings.extend(timing(contender, clock, found) for contender, found in blocks.items())
        speedups.extend(
            found
            for contender in blocks
            if contender is not Contender.EAGER and (found := speedup(contender, clock, blocks)) is not None
        )
    own = Contender.BASELINE if job.solver is Solver.INDUCTOR else Contender.PASSES
    verdict, reason = judged(
        next(each for each in speedups if each.contender is own and each.clock is Clock.END_TO_END)
    )
    return Measurement(verdict, reason, tuple(timings), tuple(speedups), tuple(warnings), tuple(evidence))


def _affordable_calls(runners: Sequence[Runner]) -> int:
    """As many calls as the slowest contender can make in one block of reasonable length."""
    slowest_us = max(median(runner.block(Clock.END_TO_END, LEAST_CALLS)) for runner in runners)
    return max(LEAST_CALLS, min(CALLS, int(LONGEST_BLOCK_S * 1e6 / max(slowest_us, 1.0))))


def _timed(runners: Sequence[Runner], clock: Clock, trials: int, calls: int) -> tuple[Blocks, list[list[float]]]:
    """Per contender its blocks, in ABBA order; and eager once more in every block, as a measure of noise."""
    blocks: Blocks = {runner.contender: [] for runner in runners}
    floor: list[list[float]] = []
    for turn in range(trials):
        order = runners if turn % 2 == 0 else runners[::-1]
        for runner in order:
            blocks[runner.contender].append(runner.block(clock, calls))
        if clock is Clock.END_TO_END:
            floor.append(runners[0].block(clock, calls))
    return blocks, floor


def unstable(blocks: Mapping[Contender, Sequence[Sequence[float]]]) -> list[Contender]:
    """Whose calls spread too much, by interquartile range over median."""
    found = []
    for contender, each in blocks.items():
        samples = [sample for block in each for sample in block]
        low, middle, high = quantiles(samples, n=4)
        if middle > 0 and (high - low) / middle > UNSTABLE:
            found.append(contender)
    return found


def timing(contender: Contender, clock: Clock, blocks: Sequence[Sequence[float]]) -> Timing:
    samples = tuple(sample for block in blocks for sample in block)
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


def judged(found: Speedup) -> tuple[Verdict, str]:
    """The verdict that an end-to-end speedup and its interval stand for."""
    shown = f"{found.value:.2f} times eager's speed end to end (95% interval {found.low:.2f} to {found.high:.2f})"
    if found.low > 1:
        return Verdict.FASTER, f"Right, and faster: {shown}."
    if found.high < 1:
        return Verdict.SLOWER, f"Right, but slower: {shown}."
    return Verdict.NO_DIFFERENCE, f"Right, with no measurable difference: {shown}."


def _floor_sentence(eager: Sequence[Sequence[float]], again: Sequence[Sequence[float]]) -> str:
    ratios = [median(first) / median(second) for first, second in zip(eager, again)]
    interval = median_interval(ratios)
    return f"Eager against itself, end to end: {interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})."
