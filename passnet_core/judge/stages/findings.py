"""What each stage found of a job, as data: the verdict is made of these."""

from dataclasses import dataclass

from passnet_core.judge.protocol.messages import CandidateEnd
from passnet_core.records import (
    Accuracy,
    Evidence,
    Finding,
    MatchReport,
    Speedup,
    Timing,
    Verdict,
)


@dataclass(frozen=True)
class Verification:
    """What VERIFY found. verdict: VALUES_ONLY where all is right, else one of WRONG, or EAGER_FAILED."""

    verdict: Verdict
    reason: str
    accuracy: Accuracy | None
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Census:
    """What the census found. verdict: LIBRARY, or VALUES_ONLY where nothing foreign computed."""

    verdict: Verdict
    reason: str
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """What MEASURE found. verdict: SLOWER, NO_DIFFERENCE or FASTER, or VALUES_ONLY where it cannot be timed."""

    verdict: Verdict
    reason: str
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    noise: float | None = None
    """As in Outcome; None where eager was not timed against itself."""


@dataclass(frozen=True)
class Facts:
    """All that the referee knows when a job is over. during: the stage in which the end came."""

    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    verification: Verification | None = None
    census: Census | None = None
    measurement: Measurement | None = None
    end: CandidateEnd | None = None
    during: str = ""
    """ "load", "rewrite", "prepare", "verify", "census" or "measure"."""
    problem: str = ""
    """A failure of the judge or the machine: an infrastructure error whatever else is known."""
    rewrite_problem: str = ""
    """Why the matched graph could not be rewritten."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
