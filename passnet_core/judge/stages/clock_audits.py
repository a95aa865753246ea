"""Audits of clocks: how long a candidate's bursts take beyond what it claims, by the referee's own clock, compared with
the reference worker's."""

from dataclasses import dataclass
from statistics import median

from passnet_core.judge.stages.timed_blocks import PRECISE, Timed, pooled
from passnet_core.records import OWN_CLOCK, Clock, Contender, Evidence, Verdict
from passnet_core.scoring.intervals import Interval, median_interval

GAP_US = 4.0
"""How many microseconds more or less than in the reference worker a round may take beyond what is claimed."""
GAP_SHARE = 0.01
"""The share of eager's time that a round may take in addition."""
GAP_NOISE = 0.05
"""The share of the reference worker's gap that a round may take in addition: two processes differ by as much."""


@dataclass(frozen=True)
class Audit:
    """The candidate's bursts are compared with the reference worker's. lenience: multiplies the difference that is
    allowed."""

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
class Excess:
    """How much longer a round takes beyond what is claimed than in the reference worker. more, allowed: in
    microseconds. gap_us: what a round takes there."""

    more: Interval
    allowed: float
    gap_us: float

    @property
    def within(self) -> bool:
        """Whether the whole interval is allowed."""
        return -self.allowed <= self.more.low and self.more.high <= self.allowed

    @property
    def beyond(self) -> bool:
        """Whether the difference itself is not allowed."""
        return abs(self.more.value) > self.allowed

    @property
    def certain(self) -> bool:
        """Whether no part of the interval is allowed."""
        return self.more.low > self.allowed or self.more.high < -self.allowed

    @property
    def words(self) -> str:
        """The difference, as part of a sentence about the candidate's process."""
        much = f"{abs(self.more.value):.1f} µs"
        if self.more.value > 0:
            return f"it is busy for {much} more than that with each call"
        return f"it draws inputs and reads outputs in {much} less with each call"


def excess(timed: Timed, spec: ClockSpec) -> Excess | None:
    """How the candidate's gaps differ from the reference worker's. None: there is no candidate, or no audit.

    Work outside the device events shows too, because the referee's clock covers whole bursts."""
    if not timed.beside or not isinstance(spec.audited, Audit):
        return None
    gap_us = median(each.gap_us for each in timed.clean)
    more = median_interval([beside.gap_us - clean.gap_us for beside, clean in zip(timed.beside, timed.clean)])
    reference = median(pooled(timed.claimed[Contender.EAGER]))
    allowed = spec.audited.lenience * (GAP_US + GAP_SHARE * reference + GAP_NOISE * gap_us)
    return Excess(more, allowed, gap_us)


def doubt(timed: Timed, spec: ClockSpec) -> Excess | None:
    """The excess, if it is not allowed."""
    found = excess(timed, spec)
    return found if found and found.beyond else None


def settled(timed: Timed, spec: ClockSpec) -> bool:
    """Whether more blocks would tell nothing new: each speedup is precise, and the gaps are allowed for certain."""
    found = excess(timed, spec)
    speedups = timed.speedups(spec.clock)
    precise = len(speedups) == len(timed.contenders) - 1 and all(each.high <= PRECISE * each.low for each in speedups)
    return precise and (found is None or found.within)


def disagreement(found: Excess, timed: Timed, clock: Clock, *, one_core: bool) -> tuple[Verdict, str]:
    """The verdict and reason for clocks that disagree for certain. one_core: all timed calls ran on the same core; else
    one worker may just have had the slower core."""
    claim = median(pooled(timed.claimed[Contender.PASSES]))
    facts = (
        f"its process claims {claim:.1f} µs a call ({clock.value}), but by the judge's own clock {found.words},"
        " compared with the reference worker, also when measured again."
    )
    if not one_core and abs(found.more.value) < found.gap_us:
        return Verdict.INCONCLUSIVE, f"Right, but the clocks disagree, as they may with few cores: {facts}"
    return Verdict.CHEAT, f"The clocks disagree: {facts}"


def clock_evidence(timed: Timed, spec: ClockSpec) -> Evidence | None:
    """What each round takes beyond what is claimed, as evidence. None: there is nothing to compare."""
    found = excess(timed, spec)
    if found is None:
        return None
    text = (
        "By the judge's own clock, drawing the inputs of a round of two calls, reading their outputs, and all that is"
        f" not claimed take {found.gap_us:.1f} µs in the reference worker, and {found.more.value:+.1f} µs"
        f" ({found.more.low:+.1f} to {found.more.high:+.1f}) in the candidate's; up to {found.allowed:.1f} µs are"
        " allowed."
    )
    return Evidence(OWN_CLOCK, text)
