"""What a clock is held against: the referee's own, over each step around a timed call, beyond what eager does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from passnet_core.judge.protocol.messages import CALLABLES, TimedCall
from passnet_core.judge.stages.timed_blocks import APART, Block, Timed, pooled, spread_out
from passnet_core.records import OWN_CLOCK, Clock, Contender, Evidence, Verdict
from passnet_core.scoring.intervals import Interval, median_interval


@dataclass(frozen=True)
class Audit:
    """The candidate's steps around a call are held against eager's. lenience: how many times as much may lie beside the
    claim as STEPS allow."""

    lenience: float


@dataclass(frozen=True)
class NotAudited:
    """Claims are taken as they are told."""

    why: str


@dataclass(frozen=True)
class ClockSpec:
    """A clock of MEASURE. audited has no default: nobody adds a clock without saying what guards it.

    budget_s: more blocks than asked for are taken until this is spent; None: it is no clock of timed calls, but a trace
    of others. scored: the verdict rests on it, so that its times must be steady, eager is timed against itself, and
    copies tell whether the device is busy. passnet: it is one of PassNet's protocol too.
    """

    clock: Clock
    audited: Audit | NotAudited
    budget_s: float | None
    scored: bool = False
    passnet: bool = False


@dataclass(frozen=True)
class ClockStep:
    """One of the steps around a timed call, by the referee's clock. taken: microseconds beyond what was claimed.

    Compared with eager's, these may be longer or shorter by so many microseconds, this share of eager's time for a
    call, and this share of what the step takes for eager.
    """

    name: str
    taken: Callable[[TimedCall], float]
    microseconds: float
    share: float
    noise: float
    more: str
    less: str = ""

    def of(self, block: Block) -> float:
        """Microseconds of the step in the median call."""
        return median(self.taken(call) for call in block.calls)


STEPS = (
    ClockStep(
        "the call", lambda call: call.calling_us - call.claimed_us, 4.0, 0.01, 0.25,
        "each takes {} µs more than that",
    ),
    ClockStep(
        "drawing", lambda call: call.drawing_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more before each", "it draws inputs in {} µs less",
    ),
    ClockStep(
        "reading", lambda call: call.digesting_us, 8.0, 0.02, 0.15,
        "it is busy for {} µs more after each", "it reads what was returned in {} µs less",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Excess:
    """By how many microseconds a step around the candidate's calls is longer than eager's, and may be."""

    step: ClockStep
    more: Interval
    allowed: float

    @property
    def within(self) -> bool:
        """Surely no more than is allowed, and no less."""
        return self.more.high <= self.allowed and (not self.step.less or self.more.low >= -self.allowed)

    @property
    def beyond(self) -> bool:
        return self.more.value > self.allowed or (bool(self.step.less) and self.more.value < -self.allowed)

    @property
    def certain(self) -> bool:
        """So is the whole interval."""
        return self.more.low > self.allowed or self.more.high < -self.allowed

    @property
    def words(self) -> str:
        return (self.step.more if self.more.value > 0 else self.step.less).format(f"{abs(self.more.value):.1f}")


def doubt(timed: Timed, spec: ClockSpec) -> Excess | None:
    """The surest sign that the candidate takes longer than it claims, beyond what eager does, or does more or less
    around its calls. Work outside the device events shows in the same calls."""
    found = [each for each in _excesses(timed, spec) if each.beyond]
    return max(found, key=lambda each: each.certain, default=None)


def settled(timed: Timed, spec: ClockSpec) -> bool:
    """Whether more blocks would tell nothing: each ratio is known as closely as processes are alike, and no step of the
    candidate's can be longer or shorter than it may be."""
    if any(each is None or each.high > APART * each.low for each in timed.ratios(spec.clock)):
        return False
    if any(spread_out(blocks) for blocks in timed.claimed.values()):
        return False
    return all(each.within for each in _excesses(timed, spec))


def _excesses(timed: Timed, spec: ClockSpec) -> Iterator[Excess]:
    """Of each step around the candidate's calls; of none where there is no candidate, or no audit."""
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
    """What a certain doubt means. one_core: the children's calls run on the same core; else one of them may just have
    had the slower one."""
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
    words = []
    for step in STEPS:
        eager, solved = (median(step.of(each) for each in timed.blocks[who]) for who in (Contender.EAGER, solver))
        words.append(f"{step.name} {eager:.1f} µs for eager and {solved:.1f} µs for {CALLABLES[solver]}")
    return Evidence(OWN_CLOCK, f"Beyond what is claimed for a call: {', '.join(words)}.")
