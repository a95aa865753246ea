"""The findings of each stage of a job, as records. The verdict is made from these."""

from dataclasses import dataclass

from passnet_core.judge.protocol.messages import CandidateEnd, Watched
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
class Census:
    """The findings of the kernel census. verdict: VALUES_ONLY if only own kernels computed, LIBRARY, WRONG_VALUES for
    kernels that are wrong whatever the values, COMPILE_FAILED for kernels that no GPU takes, or INCONCLUSIVE."""

    verdict: Verdict
    reason: str
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    """The lines of the bundle that do not compile."""


@dataclass(frozen=True)
class Verification:
    """The findings of VERIFY. verdict: VALUES_ONLY if every output is right, INCONCLUSIVE, one of WRONG, or
    EAGER_FAILED."""

    verdict: Verdict
    reason: str
    accuracy: Accuracy | None
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    watched: tuple[Watched, ...] = ()
    """What the replacement functions did in each call; empty if nothing was watched."""
    executed: Census | None = None
    """What compiling the kernels, and executing plans, showed. None: no plan was executed."""


class Decided(Exception):
    """Raised by what ends the verification. verification: its result."""

    def __init__(self, verification: Verification) -> None:
        super().__init__(verification.reason)
        self.verification = verification


@dataclass(frozen=True)
class Measurement:
    """The findings of MEASURE. verdict: SLOWER, NO_DIFFERENCE or FASTER; INCONCLUSIVE, CHEAT or one of WRONG; or
    VALUES_ONLY without a GPU."""

    verdict: Verdict
    reason: str
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    noise: float | None = None
    """As in Outcome. None: eager was not timed against itself."""


@dataclass(frozen=True)
class Facts:
    """All that the referee knows when a job is over."""

    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    verification: Verification | None = None
    census: Census | None = None
    measurement: Measurement | None = None
    end: CandidateEnd | None = None
    """How a worker ended, if one ended early."""
    during: str = ""
    """The phase in which the job ended, a value of Phase; empty before the first."""
    problem: str = ""
    """A failure of the judge or the machine. It makes the job an infrastructure error, whatever else is known."""
    rewrite_problem: str = ""
    """Why the matches could not be replaced in the graph, or empty."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def parts(self) -> tuple[Verification | Census | Measurement, ...]:
        """The findings of the stages that had any, in their order."""
        return tuple(each for each in (self.verification, self.census, self.measurement) if each is not None)
