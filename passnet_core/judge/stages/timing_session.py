"""A measurement in progress: pairs of callables in their workers, timed in alternating bursts, and what is known so
far."""

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core.judge.protocol.messages import CALLABLES, CallableName, CandidateFault, Fills
from passnet_core.judge.protocol.timed_calls import Burst, planned
from passnet_core.judge.stages import clock_audits, kept_figures, timed_blocks
from passnet_core.judge.stages.checked_calls import CHECKED, CHECKED_BYTES, Picked
from passnet_core.judge.stages.clock_audits import ClockSpec, NotAudited
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.kept_figures import KeptFigures
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.timed_blocks import Block, Blocks, Noise, Timed
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import REPLAY, Clock, Contender, Evidence, Speedup, Timing, Verdict

ROUNDS = 40
"""How many rounds of a burst count, if they take less than LONGEST_BURST_S."""
LEAST_ROUNDS = 4
"""How many rounds of a burst count at least."""
LONGEST_BURST_S = 0.04
LEAD_US = 2_000.0
"""For how long a burst goes on before its rounds count, because another process had the device until then."""
LEAD_SHARE = 0.25
"""By up to which share of its rounds a burst is longer, so that nobody knows how many calls are left."""
KEPT_BYTES = 4 << 30
"""How many bytes of outputs a worker keeps of one burst."""
MOST_TURNS = 25
SETTLED = (8, 4)
"""After how many turns the timing may stop early, and after how many more it may stop again."""
CHECKED_SHARE, CHECKED_OTHERWISE = 1 / 3, 1 / 8
"""After which share of the candidate's bursts calls are checked: by the clock on which the verdict rests, and by the
others."""
SURE = 4
"""By the former, calls are besides checked after a random one of so many bursts, again and again."""
EAGER_SHARE = 1 / 4
"""After which share of these a call of the eager beside the passes is checked too."""
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
    """What is timed. clean: the pair in the reference worker. beside: the pair in the candidate worker; None: the
    solver is Inductor. fills: how the inputs are drawn."""

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
        self.contest, self.fills = contest, contest.fills
        self.candidate, self.witness = asked.timed, asked.witness
        self.chance = random.Random(secrets.randbits(64))
        self.resting = False
        self.picked: list[Picked] = []
        self.timings: list[Timing] = []
        self.speedups: list[Speedup] = []
        self.evidence: list[Evidence] = []
        self.noise: Noise | None = None
        self.round_us, self.rounds, self.lead = 0.0, ROUNDS, 1
        self.many_bytes = 1
        """The bytes of the outputs of CHECKED calls."""

    def plan(self) -> None:
        """Measure what a round takes in all, for the slower pair, and what its outputs take, and choose how many rounds
        a burst has."""
        costs, kept = [], 1
        for pair in self._order(0):
            self.rest(pair.client)
            pair.client.fix(pair.names, self.fills, self.chance.getrandbits(62))
            # the first one allocates memory
            for _ in range(2):
                made = self._burst(pair, Clock.END_TO_END, self.chance.getrandbits(62), LEAST_ROUNDS)
            costs.append(made.waited_us / LEAST_ROUNDS)
            if pair.client is self.witness:
                kept = max(kept, made.kept_bytes // LEAST_ROUNDS)
        self.round_us = max(costs)
        self.many_bytes = max(1, CHECKED * kept // 2)
        affordable = min(LONGEST_BURST_S * 1e6 / max(self.round_us, 1.0), KEPT_BYTES / kept)
        self.rounds = max(LEAST_ROUNDS, min(ROUNDS, int(affordable)))
        self.lead = max(1, min(ROUNDS, int(LEAD_US / max(self.round_us, 1.0))))
        if self.rounds < ROUNDS:
            self.warnings.append(
                f"One call takes so long, or returns so much, that blocks have {self.rounds} calls instead of {ROUNDS}."
            )

    def timed(self, spec: ClockSpec, *, patience: int = 1) -> Timed:
        """Time turns of one burst for each pair, alternately: as many as the job asks for, and more while the budget
        lasts and they are needed.

        patience: by how much the clock's budget is multiplied."""
        assert spec.budget_s is not None
        beside = self.contest.beside
        timed = Timed(self.contest.clean.contenders, beside.contenders if beside else None)
        asked, sure = self.asked.job.spec.trials, 0
        budget_us, pairs_us = patience * spec.budget_s * 1e6, max(1.0, self.round_us * (2 if beside else 1))
        rounds = self.rounds
        if isinstance(spec.audited, NotAudited):
            # a figure that is only shown does not take longer than its budget
            rounds = max(
                LEAST_ROUNDS, min(rounds, int((budget_us / (asked * pairs_us) - self.lead) / (1 + LEAD_SHARE)))
            )
        affordable = int(budget_us / ((rounds * (1 + LEAD_SHARE) + self.lead) * pairs_us))
        # large outputs are checked less often, and at least once
        few = self.many_bytes <= CHECKED_BYTES
        share = (CHECKED_SHARE if spec.scored else CHECKED_OTHERWISE) * min(1.0, CHECKED_BYTES / self.many_bytes)
        for turn in range(max(asked, min(MOST_TURNS, affordable))):
            if turn >= max(asked, SETTLED[0]) and turn % SETTLED[1] == 0 and clock_audits.settled(timed, spec):
                break
            lead = self.lead + self.chance.randrange(1 + int(LEAD_SHARE * rounds))
            sure = turn + self.chance.randrange(SURE) if turn % SURE == 0 else sure
            checked = self.chance.random() < share or (turn == sure and spec.scored and (few or turn < SURE))
            for pair in self._order(turn):
                if self.rest(pair.client) and spec.scored:
                    timed.copying += filter(None, [self.witness.copying()])
                block = self._block(pair, spec.clock, lead, rounds, checked=checked and pair is beside)
                (timed.beside if pair is beside else timed.clean).append(block)
        return timed

    def _order(self, turn: int) -> list[Pair]:
        pairs = [each for each in (self.contest.clean, self.contest.beside) if each]
        return pairs if turn % 2 == 0 else pairs[::-1]

    def _block(self, pair: Pair, clock: Clock, lead: int, rounds: int, *, checked: bool) -> Block:
        """Time one burst, of so many rounds that do not count and so many that do. checked: ask for what some calls
        returned, picked at random, to be checked later."""
        # what is planned for weights is planned for these
        weights = self.asked.seed if self.asked.planned is not None else self.chance.getrandbits(62)
        seed = self.chance.getrandbits(62)
        begun_us = pair.client.fix(pair.names, self.fills, weights)
        made = self._burst(pair, clock, seed, lead + rounds)
        calls = planned(seed, 2, lead + rounds)
        if checked:
            picked = self._picked([each.function for each in calls])
            returned = pair.client.burst_outputs(picked)
            self.picked += [
                Picked(weights, calls[index].seed, made.digests[index], each) for index, each in zip(picked, returned)
            ]
        return _block(made, [each.function for each in calls], lead, begun_us)

    def _burst(self, pair: Pair, clock: Clock, seed: int, rounds: int) -> Burst:
        return pair.client.burst(pair.names, clock, self.core, seed, rounds)

    def rest(self, client: WorkerProcess) -> bool:
        """Stop the candidate worker while the witness is timed. Return whether it was stopped just now."""
        trusted = client is self.witness
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

    def _picked(self, functions: Sequence[int]) -> list[int]:
        """Pick calls of a burst of the candidate's, by their index: two of the passes, and now and then one of the
        eager beside them, whose digest would hide time if it were not computed."""
        wanted = [1, 1, 0] if self.chance.random() < EAGER_SHARE else [1, 1]
        return [
            self.chance.choice([index for index, each in enumerate(functions) if each == function])
            for function in wanted
        ]

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
                self.rest(client)
                seed = self.chance.getrandbits(62)
                traced = client.kernels(CALLABLES[contender], self.fills, seed, TRACED_CALLS)
                blocks.setdefault(contender, []).append(traced)
        for contender, client in runners:
            self.rest(client)
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


def _block(made: Burst, functions: Sequence[int], lead: int, begun_us: float) -> Block:
    """The rounds of a burst after so many that do not count. functions: the callable of each call, 0 or 1."""

    def of(function: int, values: Sequence[float]) -> list[float]:
        return [value for value, each in zip(values, functions) if each == function][lead:]

    first, second, calling, between = of(0, made.claimed_us), of(1, made.claimed_us), made.calling_us, made.between_us
    # what follows one callable's calls differs from what follows the other's
    besides = sum(median(of(function, between)) for function in (0, 1))
    beyond = 2 * made.waited_us / len(functions) - median(first) - median(second)
    return Block(first, second, of(0, calling), of(1, calling), besides, beyond, begun_us)
