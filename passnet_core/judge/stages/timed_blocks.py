"""Statistics of timed blocks: timings, speedups with their intervals, the noise floor, and unsteady times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from passnet_core.judge.protocol.messages import TimedCall
from passnet_core.records import Clock, Contender, Evidence, Speedup, Timing, Verdict
from passnet_core.scoring.intervals import Interval, median_interval

UNSTABLE = 0.2
"""The interquartile range over the median beyond which times are unsteady. PassNet, which aborts then, takes all calls;
this judge takes the median block."""
UNSURE = 1.3
"""The ratio between the ends of a speedup's interval, end to end, beyond which the times are unsteady."""

APART = 1.04
"""The least factor that counts as a difference: two processes that run the same code often differ by this much,
steadily (docs/figures.md)."""

Blocks = dict[Contender, list[list[float]]]


@dataclass(frozen=True)
class Block:
    """The timed calls of one block. begun_us: microseconds to begin it, by the referee's clock."""

    calls: list[TimedCall]
    begun_us: float = 0.0

    @property
    def claimed(self) -> list[float]:
        """Microseconds of each call, by the worker's own clock."""
        return [call.claimed_us for call in self.calls]


@dataclass
class Timed:
    """All blocks by one clock.

    again: eager's second block of each turn, for the noise floor. It runs in the candidate worker if eager fits there,
    because processes that run the same code differ. copying: bytes per microsecond that a copy moved, each time the
    candidate had come to rest."""

    blocks: dict[Contender, list[Block]] = field(default_factory=dict)
    again: list[Block] = field(default_factory=list)
    copying: list[float] = field(default_factory=list)

    @property
    def claimed(self) -> Blocks:
        """Microseconds of each call in each block, by the workers' own clocks."""
        return {contender: [block.claimed for block in blocks] for contender, blocks in self.blocks.items()}

    @property
    def floor(self) -> Interval:
        """The ratio of eager to eager again, turn by turn: the noise floor."""
        pairs = zip(self.blocks[Contender.EAGER], self.again)
        return median_interval([median(first.claimed) / median(second.claimed) for first, second in pairs])

    def with_more(self, other: "Timed") -> "Timed":
        """These blocks together with those of another series."""
        blocks = {contender: found + other.blocks[contender] for contender, found in self.blocks.items()}
        return Timed(blocks, self.again + other.again, self.copying + other.copying)

    def ratios(self, clock: Clock) -> Iterator[Speedup | Interval | None]:
        """Every ratio whose interval more blocks would narrow: the speedups, and the noise floor."""
        claimed = self.claimed
        yield from (speedup(each, clock, claimed) for each in claimed if each is not Contender.EAGER)
        if self.again:
            yield self.floor


def pooled(blocks: Sequence[Sequence[float]]) -> list[float]:
    """The samples of all blocks."""
    return [sample for block in blocks for sample in block]


def unsteady(blocks: Mapping[Contender, Sequence[Sequence[float]]]) -> list[Contender]:
    """The contenders with unsteady times: their calls spread within a block, or their ratios to eager differ by block.

    A drift of the whole machine from block to block does not count, because it is the same for all contenders."""
    found = []
    for contender, each in blocks.items():
        ratios = speedup(contender, Clock.END_TO_END, blocks)
        unsure = contender is not Contender.EAGER and ratios is not None and ratios.high > UNSURE * ratios.low
        if unsure or spread_out(each):
            found.append(contender)
    return found


def spread_out(blocks: Sequence[Sequence[float]]) -> bool:
    """Whether the calls of the median block spread too widely."""
    return median(spread(block) for block in blocks) > UNSTABLE


def spread(block: Sequence[float]) -> float:
    """The interquartile range over the median; 0 if the median is 0."""
    low, middle, high = quantiles(block, n=4)
    return (high - low) / middle if middle > 0 else 0.0


def timing(contender: Contender, clock: Clock, blocks: Sequence[Sequence[float]]) -> Timing:
    samples = tuple(pooled(blocks))
    return Timing(contender, clock, samples, len(blocks), median(samples))


def speedup(
    contender: Contender, clock: Clock, blocks: Mapping[Contender, Sequence[Sequence[float]]]
) -> Speedup | None:
    """The speedup over eager, from the ratios of block medians. None: a clock saw nothing at all."""
    pairs = [(median(eager), median(other)) for eager, other in zip(blocks[Contender.EAGER], blocks[contender])]
    ratios = [eager / other for eager, other in pairs if eager > 0 and other > 0]
    if not ratios:
        return None
    interval = median_interval(ratios)
    return Speedup(contender, clock, interval.value, interval.low, interval.high)


def judged(found: Speedup, floor: float) -> tuple[Verdict, str]:
    """The verdict and reason for an end-to-end speedup. floor: a factor up to this means nothing."""
    shown = f"{found.value:.2f} times eager's speed end to end (95% interval {found.low:.2f} to {found.high:.2f})"
    if found.low > 1 and found.value > floor:
        return Verdict.FASTER, f"Right, and faster: {shown}."
    if found.high < 1 and found.value < 1 / floor:
        return Verdict.SLOWER, f"Right, but slower: {shown}."
    beyond = found.low > 1 or found.high < 1
    within = f", which is within the noise: eager differs from eager by up to {floor - 1:.0%}" if beyond else ""
    return Verdict.NO_DIFFERENCE, f"Right, with no measurable difference: {shown}{within}."


def noise(floor: Interval) -> float:
    """The factor up to which a speedup means nothing. floor: the ratio of eager to eager."""
    return max(floor.high, 1 / floor.low, APART)


def floor_sentence(interval: Interval, same_process: bool) -> str:
    """The noise floor as evidence. same_process: eager was timed twice in the witness."""
    which = "itself" if same_process else "eager in the candidate worker"
    return (
        f"Eager against {which}, end to end: {interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f});"
        f" less than {APART - 1:.0%} never counts as a difference."
    )


def busy_evidence(busy: float) -> Evidence:
    text = f"While eager and Inductor were timed, copying memory took {busy:.2f} times as long as at best."
    return Evidence("the device beside the pass", text)


def preparing_evidence(timed: Timed, solver: Contender) -> Evidence:
    eager, solved = (median(each.begun_us for each in timed.blocks[who]) for who in (Contender.EAGER, solver))
    return Evidence(
        "prepare(weights)",
        f"Preparing new weights takes {solved:.0f} µs, and {eager:.0f} µs for eager, by the judge's own clock. That"
        " happens once per block of calls and is not part of their time.",
    )
