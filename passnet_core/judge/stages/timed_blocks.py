"""Statistics of timed blocks: timings, speedups with their intervals, the noise floor, and the clean eager."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from passnet_core.records import Clock, Contender, Speedup, Timing, Verdict
from passnet_core.scoring.intervals import Interval, median_interval

UNSTABLE = 0.2
"""The interquartile range over the median of all calls beyond which PassNet's protocol aborts."""
UNSURE = 1.3
"""The ratio between the ends of a speedup's interval, end to end, beyond which it says nothing."""
PRECISE = 1.01
"""The ratio between the ends of an interval up to which more blocks are not needed."""

APART = 1.03
"""The least factor that counts as a difference: two callables that are the same differ by up to this much on a shared
host (docs/figures.md)."""
SLOWED = 1.05
"""The factor by which eager beside the passes may be slower than eager in a process without them. Two processes that
run the same code may differ by this much, steadily (docs/figures.md)."""

Blocks = dict[Contender, list[list[float]]]


@dataclass(frozen=True)
class Block:
    """Rounds in which loops of two callables took turns. first, second: microseconds of one call, loop by loop."""

    first: Sequence[float]
    second: Sequence[float]

    @property
    def ratio(self) -> float | None:
        """The first one's time over the second one's: the median of the rounds'. None: a clock saw nothing at all."""
        ratios = [first / second for first, second in zip(self.first, self.second) if first > 0 and second > 0]
        return median(ratios) if ratios else None


@dataclass
class Timed:
    """All blocks by one clock, turn by turn.

    clean: in the reference worker, of eager and Inductor; of eager alone if Inductor fails. beside: in the executor, of
    eager and the passes; of the passes alone if eager does not fit there. A callable that is alone takes turns with
    itself."""

    clean_pair: tuple[Contender, Contender]
    beside_pair: tuple[Contender, Contender] | None
    clean: list[Block] = field(default_factory=list)
    beside: list[Block] = field(default_factory=list)

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """All that are timed, eager first."""
        return tuple(dict.fromkeys((*self.clean_pair, *(self.beside_pair[1:] if self.beside_pair else ()))))

    @property
    def samples(self) -> Blocks:
        """Microseconds of a call in each loop of each block. Eager's are those of the clean one."""
        found: Blocks = {Contender.EAGER: [list(each.first) for each in self.clean]}
        if self.clean_pair[1] is not Contender.EAGER:
            found[self.clean_pair[1]] = [list(each.second) for each in self.clean]
        if self.beside_pair:
            found[self.beside_pair[1]] = [list(each.second) for each in self.beside]
        return found

    @property
    def slowdown(self) -> Interval | None:
        """How many times as long eager takes beside the passes as in the reference worker, turn by turn. None: it is
        not timed there."""
        if not self.beside_pair or self.beside_pair[0] is not Contender.EAGER:
            return None
        ratios = [median(beside.first) / median(clean.first) for beside, clean in zip(self.beside, self.clean)]
        return median_interval(ratios)

    @property
    def floor(self) -> Interval:
        """The ratio of eager to eager, from neighbouring loops where the solver is timed: the noise."""
        there = self.beside if self.beside_pair and self.beside_pair[0] is Contender.EAGER else self.clean
        ratios = ([one / next_one for one, next_one in zip(each.first[0::2], each.first[1::2])] for each in there)
        return median_interval([median(each) for each in ratios])

    def speedup(self, contender: Contender, clock: Clock) -> Speedup | None:
        """The speedup over eager, which takes turns with the contender in the same process. Eager in the reference
        worker counts instead, if the one beside the passes is slower than SLOWED allows, or is not there. None: a clock
        saw nothing at all."""
        if contender is self.clean_pair[1]:
            ratios = [each.ratio for each in self.clean]
        elif (slowdown := self.slowdown) is not None and slowdown.value <= SLOWED:
            ratios = [each.ratio for each in self.beside]
        else:
            return speedup(contender, clock, self.samples)
        return _speedup(contender, clock, [each for each in ratios if each is not None])

    def speedups(self, clock: Clock) -> list[Speedup]:
        """The speedup of every contender whose clock saw anything."""
        found = (self.speedup(each, clock) for each in self.contenders if each is not Contender.EAGER)
        return [each for each in found if each is not None]

    def settled(self, clock: Clock) -> bool:
        """Whether more blocks would tell nothing new: every speedup is precise."""
        found = self.speedups(clock)
        return len(found) == len(self.contenders) - 1 and all(each.high <= PRECISE * each.low for each in found)


def pooled(blocks: Sequence[Sequence[float]]) -> list[float]:
    """The samples of all blocks."""
    return [sample for block in blocks for sample in block]


def unsure(speedups: Sequence[Speedup]) -> list[Contender]:
    """The contenders whose speedups are too uncertain to say anything."""
    return [each.contender for each in speedups if each.high > UNSURE * each.low]


def spread(samples: Sequence[float]) -> float:
    """The interquartile range over the median; 0 if the median is 0."""
    low, middle, high = quantiles(samples, n=4)
    return (high - low) / middle if middle > 0 else 0.0


def timing(contender: Contender, clock: Clock, blocks: Sequence[Sequence[float]]) -> Timing:
    samples = tuple(pooled(blocks))
    return Timing(contender, clock, samples, len(blocks), median(samples))


def speedup(
    contender: Contender, clock: Clock, blocks: Mapping[Contender, Sequence[Sequence[float]]]
) -> Speedup | None:
    """The speedup over eager, from the ratios of block medians. None: a clock saw nothing at all."""
    pairs = [(median(eager), median(other)) for eager, other in zip(blocks[Contender.EAGER], blocks[contender])]
    return _speedup(contender, clock, [eager / other for eager, other in pairs if eager > 0 and other > 0])


def _speedup(contender: Contender, clock: Clock, ratios: Sequence[float]) -> Speedup | None:
    if not ratios:
        return None
    interval = median_interval(ratios)
    return Speedup(contender, clock, interval.value, interval.low, interval.high)


@dataclass(frozen=True)
class Noise:
    """The factors up to which a speedup means nothing. either: in both directions. faster: how many times as long eager
    takes beside the passes as in the reference worker, so that whoever slows it down gains nothing."""

    either: float
    faster: float = 1.0


def noise(timed: Timed) -> Noise:
    """The noise of these blocks. If the passes are compared with eager in another process, that is as much as the two
    processes differ."""
    floor, found = timed.floor, timed.slowdown
    slowdown = found.value if found else SLOWED if timed.beside_pair else 1.0
    apart = slowdown if timed.beside_pair and (found is None or slowdown > SLOWED) else 1.0
    return Noise(max(floor.high, 1 / floor.low, APART, apart), max(1.0, slowdown))


def judged(found: Speedup, floor: Noise) -> tuple[Verdict, str]:
    """The verdict and reason for an end-to-end speedup."""
    shown = f"{found.value:.2f} times eager's speed end to end (95% interval {found.low:.2f} to {found.high:.2f})"
    if found.low > 1 and found.value > max(floor.either, floor.faster):
        return Verdict.FASTER, f"Right, and faster: {shown}."
    if found.high < 1 and found.value < 1 / floor.either:
        return Verdict.SLOWER, f"Right, but slower: {shown}."
    if found.low <= 1 <= found.high:
        within = ""
    elif found.low > 1 and found.value > floor.either:
        within = f", which is within what eager itself loses in the candidate's process, {floor.faster - 1:.1%}"
    else:
        within = f", which is within the noise: eager differs from eager by up to {floor.either - 1:.1%}"
    return Verdict.NO_DIFFERENCE, f"Right, with no measurable difference: {shown}{within}."


def noise_sentence(timed: Timed, found: Noise) -> str:
    """The noise floor, and the eager that the passes were compared with, as evidence."""
    floor = timed.floor
    said = (
        f"Eager against itself gives {floor.value:.3f} ({floor.low:.3f} to {floor.high:.3f}), so differences under"
        f" {found.either - 1:.1%} do not count."
    )
    slowdown = timed.slowdown
    if slowdown is None:
        return said
    beside = f" Beside the passes, eager takes {slowdown.value:.3f} times as long as in a process without them"
    if slowdown.value > SLOWED:
        return f"{said}{beside}: too much, so the passes are compared with eager there."
    return f"{said}{beside}."
