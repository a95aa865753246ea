"""A measurement in progress: pairs of callables in their workers, timed in alternating blocks of loops, and what is
known so far."""

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core.graphs.effects import changes_inputs
from passnet_core.judge.numerics.timed_inputs import SLOTS
from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Fills, LoopTimes
from passnet_core.judge.stages import kept_figures, timed_blocks
from passnet_core.judge.stages.checked_calls import CHECKED_BYTES, CHECKED_LOOPS, Picked
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.kept_figures import KeptFigures
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.timed_blocks import Block, Blocks, Noise, Timed
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import REPLAY, Clock, Contender, Evidence, Speedup, Timing, Verdict

LOOP_US = 1_000.0
"""About how long a loop is, so that waiting for the device at its end does not count."""
MOST_CALLS = 300
"""How many calls a loop has at most."""
ROUNDS = 8
"""How many rounds of a block count, if they take less than LONGEST_BLOCK_S."""
LEAST_ROUNDS = 4
"""How many rounds of a block count at least."""
LONGEST_BLOCK_S = 0.04
LEAD = 1
"""How many rounds of a block do not count, because another process had the device until then."""
MOST_TURNS = 25
SETTLED = (8, 4)
"""After how many turns the timing may stop early, and after how many more it may stop again."""
TRACED_BLOCKS, TRACED_CALLS = 2, 20
"""How many blocks of how many calls are traced for each contender."""


@dataclass(frozen=True)
class Pair:
    """Two contenders that take turns in one worker. The first is eager, if it fits there; without a second callable in
    a worker, both are the same."""

    client: WorkerProcess
    first: Contender
    second: Contender

    @property
    def names(self) -> tuple[CallableName, CallableName]:
        """The names of their callables in the worker."""
        return CALLABLES[self.first], CALLABLES[self.second]

    @property
    def contenders(self) -> tuple[Contender, Contender]:
        return self.first, self.second


@dataclass(frozen=True)
class Contest:
    """What is timed. clean: the pair in the reference worker. beside: the pair in the worker of what is judged; None:
    the solver is Inductor. fills: how the inputs are drawn."""

    clean: Pair
    beside: Pair | None
    fills: Fills

    @property
    def runners(self) -> dict[Contender, WorkerProcess]:
        """The worker of each contender, eager's being the reference worker."""
        found = dict.fromkeys(self.clean.contenders, self.clean.client)
        return found if self.beside is None else {**found, self.beside.second: self.beside.client}


class TimingSession:
    """Times the contenders of one job and keeps the results. core: the CPU core of timed calls; None: any."""

    def __init__(self, asked: PreparedJob, contest: Contest, warnings: list[str], core: int | None) -> None:
        self.asked, self.core, self.warnings = asked, core, warnings
        self.contest, self.fills, self.witness = contest, contest.fills, asked.witness
        self.chance = random.Random(secrets.randbits(64))
        self.fresh = changes_inputs(asked.graph)
        """Whether calls change their inputs, so that each input set serves one call."""
        self.timings: list[Timing] = []
        self.speedups: list[Speedup] = []
        self.evidence: list[Evidence] = []
        self.noise: Noise | None = None
        self.counts: dict[Pair, list[int]] = {}
        """How many calls a loop of each callable has."""
        self.rounds, self.block_us = ROUNDS, 0.0

    def plan(self) -> None:
        """Choose how many calls a loop has, by how long a call takes, and how many rounds a block has, by how long the
        loops of the slower pair take then."""
        most, slowest_us = SLOTS if self.fresh else MOST_CALLS, 0.0
        for pair in self._order(0):
            counts = [1, 1]
            self._fix(pair)
            # a single call waits for the device as well, so that it says too much
            for _ in range(2):
                made = self._loops(pair, counts, LEAST_ROUNDS)
                counts = [max(1, min(most, round(LOOP_US / max(median(each), 1.0)))) for each in made.host_us]
            self.counts[pair] = counts
            slowest_us = max(slowest_us, sum(count * median(each) for count, each in zip(counts, made.host_us)))
        self.rounds = max(LEAST_ROUNDS, min(ROUNDS, int(LONGEST_BLOCK_S * 1e6 / max(slowest_us, 1.0))))
        self.block_us = (self.rounds + LEAD) * slowest_us

    def timed(self, budget_s: float, *, cold: bool = False) -> dict[Clock, Timed]:
        """Time turns of one block for each pair, alternately, on the clocks that are read in one loop: as many as the
        job asks for, and more while the budget lasts and they are needed. cold: single calls, with the device's L2
        cache flushed before each."""
        beside, asked = self.contest.beside, self.asked.job.spec.trials
        clocks = (Clock.COLD,) if cold else (Clock.END_TO_END, Clock.EVENT)
        found = {clock: Timed(self.contest.clean.contenders, beside.contenders if beside else None) for clock in clocks}
        cost_us = max(1.0, self.block_us * (2 if beside else 1))
        for turn in range(max(asked, min(MOST_TURNS, int(budget_s * 1e6 / cost_us)))):
            may_stop = turn >= max(asked, SETTLED[0]) and turn % SETTLED[1] == 0
            if may_stop and found[clocks[0]].settled(clocks[0]):
                break
            for pair in self._order(turn):
                self._fix(pair)
                made = self._loops(pair, [1, 1] if cold else self.counts[pair], LEAD + self.rounds, cold=cold)
                for clock, timed in found.items():
                    samples = made.host_us if clock is Clock.END_TO_END else made.device_us
                    first, second = (each[LEAD:] for each in samples)
                    (timed.beside if pair is beside else timed.clean).append(Block(first, second))
        return found

    def picked(self) -> list[Picked]:
        """Some timed calls of the passes, with what they returned."""
        pair, kept = self.contest.beside, list[Picked]()
        for _ in range(CHECKED_LOOPS if pair is not None else 0):
            assert pair is not None
            self._fix(pair)
            seed = self.chance.getrandbits(62)
            returned = pair.client.timed_outputs(CALLABLES[pair.second], seed, CHECKED_BYTES, fresh=self.fresh)
            kept += [Picked(self._weights, seed + slot, each) for slot, each in enumerate(returned)]
        return kept

    def _order(self, turn: int) -> list[Pair]:
        pairs = [each for each in (self.contest.clean, self.contest.beside) if each]
        return pairs if turn % 2 == 0 else pairs[::-1]

    def _fix(self, pair: Pair) -> None:
        """Draw the weights of the loops to come."""
        # what is planned for weights is planned for these
        self._weights = self.asked.seed if self.asked.planned is not None else self.chance.getrandbits(62)
        pair.client.fix(pair.names, self.fills, self._weights)

    def _loops(self, pair: Pair, counts: Sequence[int], rounds: int, *, cold: bool = False) -> LoopTimes:
        seed = self.chance.getrandbits(62)
        return pair.client.loops(pair.names, counts, seed, rounds, core=self.core, cold=cold, fresh=self.fresh)

    def trace(self, eager_us: float) -> Blocks:
        """Microseconds in kernels for each traced call, from the device trace, and as evidence the time of each
        contender's call replayed as a CUDA graph, if it can be captured: without launch and dispatch.

        eager_us: how long a call of eager takes end to end. Eager and Inductor are not traced again for the next bundle
        on a subgraph, as long as that stays the same."""
        job, noise = self.asked.job, self.noise.either if self.noise else 1.0
        known = kept_figures.of(self.witness, job, eager_us, noise) if self.asked.is_candidate else None
        blocks, replays = (dict(known.traced), dict(known.replays)) if known else ({}, {})
        runners = [each for each in self.contest.runners.items() if each[0] not in blocks]
        for turn in range(TRACED_BLOCKS):
            for contender, client in runners if turn % 2 == 0 else runners[::-1]:
                seed = self.chance.getrandbits(62)
                traced = client.kernels(CALLABLES[contender], self.fills, seed, TRACED_CALLS)
                blocks.setdefault(contender, []).append(traced)
        for contender, client in runners:
            replays[contender] = self._replayed(contender, client)
        if known is not None:
            self.evidence.append(known.evidence(self.asked.names, eager_us))
        else:
            own = [contender for contender, client in runners if client is self.witness]
            figures = KeptFigures({each: blocks[each] for each in own}, {each: replays[each] for each in own}, eager_us)
            kept_figures.keep(self.witness, job, figures)
        self.evidence.append(self._replay_evidence(replays))
        return {contender: blocks[contender] for contender in self.contest.runners}

    def _replay_evidence(self, replays: Mapping[Contender, float | None]) -> Evidence:
        told = {each: "cannot be captured" if found is None else f"{found:.1f} µs" for each, found in replays.items()}
        return Evidence(
            REPLAY,
            ", ".join(f"{self.asked.names[each]} {words}" for each, words in told.items()) + ".",
            tuple((each.value, found) for each, found in replays.items() if found is not None),
        )

    def _replayed(self, contender: Contender, client: WorkerProcess) -> float | None:
        try:
            return client.replay(CALLABLES[contender], self.fills, self.chance.getrandbits(62))
        except CandidateFault:
            return None

    # --- results ---

    def keep(self, clock: Clock, blocks: Blocks, speedups: Sequence[Speedup]) -> None:
        """Keep the timings of these blocks, and these speedups."""
        self.timings += [timed_blocks.timing(contender, clock, found) for contender, found in blocks.items()]
        self.speedups += speedups

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
            self.noise.either - 1 if self.noise else None,
        )
