"""Audits of clocks: a candidate's calls and what lies between them, by the referee's own clock, compared with the
reference worker's."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from passnet_core.judge.stages.timed_blocks import PRECISE, Block, Timed, pooled
from passnet_core.records import OWN_CLOCK, Clock, Contender, Evidence, Verdict
from passnet_core.scoring.intervals import Interval, median_interval


@dataclass(frozen=True)
class Audit:
    """The candidate's steps are compared with the reference worker's. lenience: multiplies the differences that STEPS
    allow."""

    lenience: float


@dataclass(frozen=True)
class NotAudited:
    """The claimed times are taken as they are. why: the reason."""

    why: str


@dataclass(frozen=True)
class ClockSpec:
    """A clock of MEASURE. audited has no default, so that whoever adds a clock says what guards it.

    budget_s: how many seconds may go to more blocks than asked for; None: this is a trace, not a clock of timed calls.
    scored: the verdict rests on this clock, so its speedups must be certain, and copies show whether the device is
    busy. passnet: PassNet's protocol has this clock too."""

    clock: Clock
    audited: Audit | NotAudited
    budget_s: float | None
    scored: bool = False
    passnet: bool = False


@dataclass(frozen=True)
class ClockStep:
    """What the referee's clock shows of a block besides the claimed times. clean, beside: in microseconds, in a block
    of the reference worker and in one of the candidate's.

    The candidate's may differ by microseconds, plus share of eager's time, plus noise of what the reference worker's
    takes. more, less: words for a longer and a shorter step; without less, it may be shorter. shorter: in place of
    noise where it is shorter. What lies between calls is quicker beside lean passes than beside TorchInductor's code,
    which leaves less in the caches."""

    name: str
    clean: Callable[[Block], float]
    beside: Callable[[Block], float]
    microseconds: float
    share: float
    noise: float
    more: str
    less: str = ""
    shorter: float = 0.25


def _around_first(block: Block) -> float:
    return median(block.calling_first) - median(block.first)


def _around_second(block: Block) -> float:
    return median(block.calling_second) - median(block.second)


STEPS = (
    ClockStep(
        "around a call of the passes", _around_first, _around_second,
        4.0, 0.01, 0.25, "each takes {} µs more than that",
    ),
    ClockStep(
        "around a call of eager beside them", _around_first, _around_first,
        4.0, 0.01, 0.25, "eager beside them takes {} µs more than it claims for that",
        "it claims {} µs too much for eager beside them",
    ),
    ClockStep(
        "between the calls of a round", lambda block: block.between, lambda block: block.between,
        8.0, 0.02, 0.05, "it is busy for {} µs more between calls", "it draws and reads in {} µs less between calls",
    ),
    ClockStep(
        "of a burst beyond its median calls, for each round", lambda block: block.beyond, lambda block: block.beyond,
        8.0, 0.02, 0.05, "its bursts take {} µs more for each round",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Excess:
    """How much longer a step takes for the candidate than in the reference worker. more, base, allowed, spared: in
    microseconds; base is what it takes there, and it may take so much longer, or shorter."""

    step: ClockStep
    more: Interval
    base: float
    allowed: float
    spared: float

    @property
    def within(self) -> bool:
        """Whether the whole interval is allowed."""
        return self.more.high <= self.allowed and (not self.step.less or self.more.low >= -self.spared)

    @property
    def beyond(self) -> bool:
        """Whether the difference itself is not allowed."""
        return self.more.value > self.allowed or (bool(self.step.less) and self.more.value < -self.spared)

    @property
    def certain(self) -> bool:
        """Whether no part of the interval is allowed."""
        return self.more.low > self.allowed or (bool(self.step.less) and self.more.high < -self.spared)

    @property
    def words(self) -> str:
        """The difference, as part of a sentence about the candidate's process."""
        return (self.step.more if self.more.value > 0 else self.step.less).format(f"{abs(self.more.value):.1f}")


def excesses(timed: Timed, spec: ClockSpec) -> list[Excess]:
    """How the candidate's steps differ from the reference worker's. Empty: there is no candidate, or no audit.

    Work outside the device events shows too, because the referee's clock covers the same calls."""
    if not timed.beside or not isinstance(spec.audited, Audit):
        return []
    reference = median(pooled(timed.claimed[Contender.EAGER]))
    found = []
    for step in STEPS:
        base = median(map(step.clean, timed.clean))
        pairs = zip(timed.beside, timed.clean)
        more = median_interval([step.beside(beside) - step.clean(clean) for beside, clean in pairs])
        fixed = step.microseconds + step.share * reference
        allowed, spared = (spec.audited.lenience * (fixed + noise * base) for noise in (step.noise, step.shorter))
        found.append(Excess(step, more, base, allowed, spared))
    return found


def doubt(timed: Timed, spec: ClockSpec) -> Excess | None:
    """The surest sign that the candidate takes longer than it claims, or does more or less between its calls."""
    found = [each for each in excesses(timed, spec) if each.beyond]
    return max(found, key=lambda each: each.certain, default=None)


def settled(timed: Timed, spec: ClockSpec) -> bool:
    """Whether more blocks would tell nothing new: each speedup is precise, and every step is allowed for certain."""
    speedups = timed.speedups(spec.clock)
    precise = len(speedups) == len(timed.contenders) - 1 and all(each.high <= PRECISE * each.low for each in speedups)
    return precise and all(each.within for each in excesses(timed, spec))


def disagreement(found: Excess, timed: Timed, clock: Clock, *, one_core: bool) -> tuple[Verdict, str]:
    """The verdict and reason for clocks that disagree for certain. If a step takes longer by no larger share than
    eager does in the candidate's process, beyond what is allowed anyway, the host may have been restless; and whoever
    slows eager down to be there gets no speedup. one_core: all timed calls ran on the same core; else one worker may
    just have had the slower core."""
    claim = median(pooled(timed.claimed[Contender.PASSES]))
    facts = (
        f"its process claims {claim:.1f} µs per call ({clock.value}), but by the judge's own clock {found.words},"
        " compared with the reference worker, even when measured again."
    )
    slowdown = timed.slowdown
    if slowdown and 0 < found.more.value <= found.allowed + (slowdown.high - 1) * found.base:
        return (
            Verdict.INCONCLUSIVE,
            f"Right, but the candidate's process is slower throughout, and so is eager there: {facts}",
        )
    if not one_core and abs(found.more.value) < median(each.between for each in timed.clean):
        return Verdict.INCONCLUSIVE, f"Right, but the clocks disagree, as they may with few cores: {facts}"
    return Verdict.CHEAT, f"The clocks disagree: {facts}"


def clock_evidence(timed: Timed, spec: ClockSpec) -> Evidence | None:
    """What the referee's clock shows besides the claimed times, as evidence. None: there is nothing to compare."""
    words = [
        f"{each.step.name} {each.base:.1f} µs in the reference worker and {each.more.value:+.1f} µs"
        f" ({each.more.low:+.1f} to {each.more.high:+.1f}) in the candidate's, where {each.allowed:.1f} are allowed"
        for each in excesses(timed, spec)
    ]
    return Evidence(OWN_CLOCK, f"By the judge's own clock: {'; '.join(words)}.") if words else None
