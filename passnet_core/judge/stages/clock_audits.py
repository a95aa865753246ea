"""Audits of clocks: a candidate's steps around its timed calls, by the referee's own clock, compared with eager's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from passnet_core.judge.protocol.messages import TimedCall
from passnet_core.judge.stages.timed_blocks import APART, Block, Timed, pooled, spread_out
from passnet_core.records import CONTENDER_NAMES, OWN_CLOCK, Clock, Contender, Evidence, Verdict
from passnet_core.scoring.intervals import Interval, median_interval


@dataclass(frozen=True)
class Audit:
    """The candidate's steps around a call are compared with eager's. lenience: multiplies the differences that STEPS
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
    scored: the verdict rests on this clock, so its times must be steady, eager is timed against itself, and copies show
    whether the device is busy. passnet: PassNet's protocol has this clock too."""

    clock: Clock
    audited: Audit | NotAudited
    budget_s: float | None
    scored: bool = False
    passnet: bool = False


@dataclass(frozen=True)
class ClockStep:
    """A step around a timed call, by the referee's clock. taken: its microseconds, without the claimed ones.

    It may differ from eager's step by microseconds, plus share of eager's time for a call, plus noise of the time that
    the step takes for eager. more, less: words for a longer and a shorter step; without less, it may be shorter."""

    name: str
    taken: Callable[[TimedCall], float]
    microseconds: float
    share: float
    noise: float
    more: str
    less: str = ""

    def of(self, block: Block) -> float:
        """Microseconds of the step in the block's median call."""
        return median(self.taken(call) for call in block.calls)


STEPS = (
    ClockStep(
        "around the call", lambda call: call.calling_us - call.claimed_us, 4.0, 0.01, 0.25,
        "each takes {} µs more than that",
    ),
    ClockStep(
        "drawing its inputs", lambda call: call.drawing_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more before each", "it draws inputs in {} µs less",
    ),
    ClockStep(
        "reading its outputs", lambda call: call.digesting_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more after each", "it reads what was returned in {} µs less",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Excess:
    """How much longer a step takes for the candidate than for eager. more, allowed: microseconds."""

    step: ClockStep
    more: Interval
    allowed: float

    @property
    def within(self) -> bool:
        """Whether the whole interval is allowed."""
        return self.more.high <= self.allowed and (not self.step.less or self.more.low >= -self.allowed)

    @property
    def beyond(self) -> bool:
        """Whether the difference itself is not allowed."""
        return self.more.value > self.allowed or (bool(self.step.less) and self.more.value < -self.allowed)

    @property
    def certain(self) -> bool:
        """Whether no part of the interval is allowed."""
        return self.more.low > self.allowed or self.more.high < -self.allowed

    @property
    def words(self) -> str:
        """The difference, as part of a sentence about the candidate's process."""
        return (self.step.more if self.more.value > 0 else self.step.less).format(f"{abs(self.more.value):.1f}")


def doubt(timed: Timed, spec: ClockSpec) -> Excess | None:
    """The surest sign that the candidate takes longer than it claims, or does more or less around its calls than eager.

    Work outside the device events shows too, because the host's clock covers the same calls."""
    found = [each for each in _excesses(timed, spec) if each.beyond]
    return max(found, key=lambda each: each.certain, default=None)


def settled(timed: Timed, spec: ClockSpec) -> bool:
    """Whether more blocks would tell nothing new: each ratio is known to within APART, calls do not spread, and every
    step around the candidate's calls is allowed for certain."""
    if any(each is None or each.high > APART * each.low for each in timed.ratios(spec.clock)):
        return False
    if any(spread_out(blocks) for blocks in timed.claimed.values()):
        return False
    return all(each.within for each in _excesses(timed, spec))


def _excesses(timed: Timed, spec: ClockSpec) -> Iterator[Excess]:
    """The excess of each step around the candidate's calls; nothing for Inductor, or if the clock is not audited."""
    if Contender.PASSES not in timed.blocks or not isinstance(spec.audited, Audit):
        return
    eager, candidate = timed.blocks[Contender.EAGER], timed.blocks[Contender.PASSES]
    reference = median(pooled(timed.claimed[Contender.EAGER]))
    for step in STEPS:
        base = median(step.of(block) for block in eager)
        more = median_interval([step.of(block) - step.of(beside) for block, beside in zip(candidate, eager)])
        allowed = step.microseconds + step.share * reference + step.noise * base
        yield Excess(step, more, spec.audited.lenience * allowed)


def disagreement(found: Excess, timed: Timed, clock: Clock, *, one_core: bool) -> tuple[Verdict, str]:
    """The verdict and reason for clocks that disagree for certain. one_core: all timed calls ran on the same core; else
    one worker may just have had the slower core."""
    claim = median(pooled(timed.claimed[Contender.PASSES]))
    facts = (
        f"its process claims {claim:.1f} µs a call ({clock.value}), but by the judge's own clock {found.words},"
        " compared with eager, also when measured again."
    )
    around = sum(median(step.of(block) for block in timed.blocks[Contender.EAGER]) for step in STEPS)
    if not one_core and abs(found.more.value) < around:
        return Verdict.INCONCLUSIVE, f"Right, but the clocks disagree, as they may with few cores: {facts}"
    return Verdict.CHEAT, f"The clocks disagree: {facts}"


def clock_evidence(timed: Timed, solver: Contender) -> Evidence:
    """The time of each step around a call, for eager and for the solver, as evidence."""
    words = []
    for step in STEPS:
        eager, solved = (median(step.of(each) for each in timed.blocks[who]) for who in (Contender.EAGER, solver))
        words.append(f"{step.name} {eager:.1f} µs for eager and {solved:.1f} µs for {CONTENDER_NAMES[solver]}")
    return Evidence(OWN_CLOCK, f"Besides the claimed time, the judge's own clock shows per call: {', '.join(words)}.")
