"""A measurement in progress: contenders in their workers, called in alternating blocks, and what is known so far."""

import random
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Fills
from passnet_core.judge.stages import checked_calls, clock_audits
from passnet_core.judge.stages.checked_calls import CHECKED, CHECKED_BYTES, Picked
from passnet_core.judge.stages.clock_audits import ClockSpec
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.timed_blocks import Block, Blocks, Timed, speedup, timing
from passnet_core.records import CONTENDER_NAMES, REPLAY, Clock, Contender, Evidence, Speedup, Timing, Verdict

CALLS = 40
"""How many timed calls a block has, if it takes less than LONGEST_BLOCK_S."""
LEAST_CALLS = 5
"""How many timed calls a block has at least."""
LONGEST_BLOCK_S = 0.05
LEAD_US = 2_000.0
"""For how long a block is called before its calls count, because another process had the device until then."""
LEAD_CALLS = (2, 40)
"""The least and the most calls of a block that do not count."""
MOST_BLOCKS = 25
SETTLED = (8, 4)
"""After how many blocks the timing may stop early, and after how many more it may stop again."""
TRACED_BLOCKS, TRACED_CALLS = 2, 20
"""How many blocks of how many calls are traced for each contender."""


@dataclass(frozen=True)
class Runner:
    """A contender and the worker that runs it."""

    contender: Contender
    client: CandidateClient

    @property
    def name(self) -> CallableName:
        """The name of the contender's callable in the worker."""
        return CALLABLES[self.contender]


@dataclass(frozen=True)
class Contest:
    """What is timed. runners: one per contender. twin: eager in the candidate worker, if it fits there, or in the
    witness. fills: how the inputs are drawn."""

    runners: Sequence[Runner]
    twin: Runner
    fills: Fills


class TimingSession:
    """Times the contenders of one job and keeps the results. core: the CPU core of timed calls; None: any."""

    def __init__(self, asked: PreparedJob, contest: Contest, warnings: list[str], core: int | None) -> None:
        self.asked, self.core, self.warnings = asked, core, warnings
        self.runners, self.twin, self.fills = contest.runners, contest.twin, contest.fills
        self.candidate, self.witness = asked.candidate, asked.witness
        self.chance = random.Random(secrets.randbits(64))
        self.resting = False
        self.picked: list[Picked] = []
        self.wanted = CHECKED
        self.timings: list[Timing] = []
        self.speedups: list[Speedup] = []
        self.evidence: list[Evidence] = []
        self.noise: float | None = None
        self.cost_us, self.calls = 0.0, CALLS

    def plan(self) -> None:
        """Measure what a timed call takes in all, for the slowest contender, and choose the number of calls in a
        block."""
        costs = []
        for runner in self.runners:
            self.rest(runner)
            probe = self._block(runner, Clock.END_TO_END, LEAST_CALLS, 2)
            costs.append(median(call.waited_us for call in probe.calls))
        self.cost_us = max(costs)
        self.calls = max(LEAST_CALLS, min(CALLS, int(LONGEST_BLOCK_S * 1e6 / max(self.cost_us, 1.0))))
        if self.calls < CALLS:
            self.warnings.append(f"One call takes so long that blocks have {self.calls} calls instead of {CALLS}.")

    def timed(self, spec: ClockSpec, *, patience: int = 1) -> Timed:
        """Time blocks in ABBA order: as many as the job asks for, and more while the budget lasts and they are needed.

        patience: by how much the clock's budget is multiplied."""
        assert spec.budget_s is not None
        timed = Timed({runner.contender: [] for runner in self.runners})
        lead = max(LEAD_CALLS[0], min(LEAD_CALLS[1], int(LEAD_US / max(self.cost_us, 1.0))))
        order = [*self.runners, self.twin] if spec.scored else list(self.runners)
        turn_us = (self.calls + lead) * self.cost_us * len(order)
        affordable = int(patience * spec.budget_s * 1e6 / max(turn_us, 1.0))
        asked = self.asked.job.spec.trials
        for turn in range(max(asked, min(MOST_BLOCKS, affordable))):
            if turn >= max(asked, SETTLED[0]) and turn % SETTLED[1] == 0 and clock_audits.settled(timed, spec):
                break
            places = range(len(order)) if turn % 2 == 0 else reversed(range(len(order)))
            for place in places:
                runner = order[place]
                if self.rest(runner) and spec.scored:
                    timed.copying += filter(None, [self.witness.copying()])
                block = self._block(runner, spec.clock, self.calls, lead)
                (timed.blocks[runner.contender] if place < len(self.runners) else timed.again).append(block)
        return timed

    def _block(self, runner: Runner, clock: Clock, calls: int, lead: int) -> Block:
        """Time one block of calls. Of the passes' blocks, some have a call picked at random, to be checked later."""
        picked = self._picked(runner, calls + lead)
        weights = self.chance.getrandbits(62)
        series = runner.client.timed_calls(runner.name, clock, self.fills, self.core, weights)
        made: list[tuple[int, int]] = []
        block = Block([], series.begun_us)
        for index, (seed, slot) in enumerate(self._inputs(calls + lead)):
            call = series.call(seed, slot, keep_last=index - 1 in picked)
            made.append((seed, call.digest))
            if index >= lead:
                block.calls.append(call)
        returned = series.end(keep_last=calls + lead - 1 in picked)
        self.picked += [Picked(weights, *made[index], each) for index, each in zip(sorted(picked), returned)]
        if returned and checked_calls.bytes_of(returned) > CHECKED_BYTES // CHECKED:
            self.wanted = 2
        return block

    def rest(self, runner: Runner) -> bool:
        """Stop the candidate worker while the witness is timed. Return whether it was stopped just now."""
        trusted = runner.client is self.witness
        came_to_rest = trusted and not self.resting and self.candidate is not self.witness
        if came_to_rest:
            self.candidate.rest()
        self.resting = trusted
        return came_to_rest

    def busy(self, timed: Timed) -> float:
        """How many times as long as at best a copy took while the candidate rested. Work that the candidate has left on
        the device goes on, and slows whatever is timed."""
        if not timed.copying:
            return 1.0
        speed = self.witness.facts().get("bytes_per_us")
        return speed / median(timed.copying) if isinstance(speed, float) else 1.0

    def _picked(self, runner: Runner, calls: int) -> set[int]:
        """Pick calls of this block to be checked: one call in about half of the blocks, until there are enough."""
        if runner.contender is not Contender.PASSES or len(self.picked) >= self.wanted or self.chance.random() < 0.5:
            return set()
        return {self.chance.randrange(calls)}

    def _inputs(self, count: int) -> Iterator[tuple[int, int]]:
        """Seeds and slots of a block's calls. Mostly new content in a known place, sometimes the same content in
        another."""
        seed, slot = self.chance.getrandbits(62), 0
        for _ in range(count):
            if self.chance.random() < 7 / 8:
                seed = self.chance.getrandbits(62)
            slot = (slot + self.chance.randrange(1, timed_inputs.SLOTS)) % timed_inputs.SLOTS
            yield seed, slot

    def traced(self) -> Blocks:
        """Microseconds in kernels for each traced call, from the device trace."""
        blocks: Blocks = {runner.contender: [] for runner in self.runners}
        for turn in range(TRACED_BLOCKS):
            for runner in self.runners if turn % 2 == 0 else self.runners[::-1]:
                self.rest(runner)
                samples = runner.client.kernels(runner.name, self.fills, self.chance.getrandbits(62), TRACED_CALLS)
                blocks[runner.contender].append(samples)
        return blocks

    def replay(self) -> None:
        """Time each contender's call replayed as a CUDA graph, if it can be captured: the time without launch and
        dispatch."""
        words, figures = [], []
        for runner in self.runners:
            self.rest(runner)
            try:
                found = runner.client.replay(runner.name, self.fills, self.chance.getrandbits(62))
            except CandidateFault:
                found = None
            told = f"{found:.1f} µs" if found is not None else "cannot be captured"
            words.append(f"{CONTENDER_NAMES[runner.contender]} {told}")
            if found is not None:
                figures.append((runner.contender.value, found))
        self.evidence.append(Evidence(REPLAY, ", ".join(words) + ".", tuple(figures)))

    # --- results ---

    def keep(self, clock: Clock, blocks: Blocks) -> None:
        """Keep the timings and speedups of these blocks."""
        self.timings += [timing(contender, clock, found) for contender, found in blocks.items()]
        for contender in blocks:
            if contender is not Contender.EAGER:
                found = speedup(contender, clock, blocks)
                self.speedups += [found] if found is not None else []

    def scored_speedup(self) -> Speedup:
        """The speedup that the verdict rests on."""
        solver = self.asked.solver
        return next(each for each in self.speedups if each.contender is solver and each.clock is Clock.END_TO_END)

    def measurement(self, verdict: Verdict, reason: str, *, scored: bool = True) -> Measurement:
        """The findings of MEASURE. scored: whether the speedups count."""
        return Measurement(
            verdict,
            reason,
            tuple(self.timings),
            tuple(self.speedups) if scored else (),
            tuple(self.warnings),
            tuple(self.evidence),
            self.noise,
        )
