"""The answer to a job: a verdict, with all that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass

from passnet_core.records.accuracy import Accuracy
from passnet_core.records.bundles import Finding
from passnet_core.records.enums import (
    ERROR_CLASS,
    RIGHT,
    TIMED,
    WRONG,
    Clock,
    Contender,
    ErrorClass,
    SolverKind,
    Verdict,
)
from passnet_core.records.jobs import EvalSpec
from passnet_core.records.machines import Environment
from passnet_core.records.matching import MatchReport
from passnet_core.records.timing import Speedup, Timing

LAUNCHED = "kernels launched"
NOISE_FLOOR = "noise floor"
TIMED_CALLS = "timed calls"
OWN_CLOCK = "the judge's own clock"
"""Topics of evidence that others look for, these and the two below."""
MEMORY_FLOOR = "memory floor"
"""Topic whose figures are moved_bytes, of all inputs and outputs, and bytes_per_us, of a copy on the device."""
REPLAY = "replay of a captured graph"
"""Topic whose figures are microseconds, for each contender whose call could be captured."""


@dataclass(frozen=True)
class Evidence:
    """One fact behind a verdict: what was looked at, and what was seen. figures: by name, where the topic has any."""

    topic: str
    text: str
    figures: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The one answer to a job. The verdict decides which fields exist; impossible combinations cannot be built."""

    job_digest: str
    task_id: str
    subgraph_id: str
    subgraph_digest: str
    dtype: str
    solver: SolverKind
    bundle_digest: str | None
    spec: EvalSpec
    verdict: Verdict
    reason: str
    environment: Environment | None
    wall_s: float
    finished_at: str
    """UTC, ISO 8601."""
    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    accuracy: Accuracy | None = None
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    noise: float | None = None
    """By what share eager may differ from itself, end to end: the farther end of that ratio's 95% interval."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    log_tail: str = ""

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ValueError(f"Impossible outcome, {self.verdict.value!r}: {problem}.")

    def _problem(self) -> str:
        verdict = self.verdict
        if not self.reason:
            return "no reason"
        if (self.bundle_digest is None) != (self.solver is SolverKind.INDUCTOR):
            return "a bundle digest belongs to passes, and only to them"
        if verdict is Verdict.REJECTED and not any(finding.fatal for finding in self.findings):
            return "rejected without a fatal finding"
        if verdict is Verdict.NO_MATCH and (self.match is None or self.match.count):
            return "no match needs a match report without matches"
        if verdict is Verdict.MATCHED and (self.match is None or not self.match.count):
            return "a match needs matches"
        if verdict in RIGHT | WRONG and self.accuracy is None:
            return "values were judged without accuracy"
        if verdict in RIGHT and self.solver is SolverKind.PASSES and (self.match is None or not self.match.count):
            return "passes were accepted without a match"
        if (verdict in TIMED) != bool(self.speedups):
            return "speedups belong to timed verdicts, and only to them"
        if verdict.judged and self.environment is None:
            return "no environment"
        return ""

    @property
    def error_class(self) -> ErrorClass | None:
        return ERROR_CLASS[self.verdict]

    def speedup(self, clock: Clock = Clock.END_TO_END, contender: Contender | None = None) -> Speedup | None:
        """Of the solver itself unless another contender is named."""
        who = contender or self.solver.contender
        return next((each for each in self.speedups if each.clock is clock and each.contender is who), None)

    def figures(self, topic: str) -> Mapping[str, float]:
        """Of the evidence on that topic."""
        return {name: value for each in self.evidence if each.topic == topic for name, value in each.figures}

    def timing(self, contender: Contender, clock: Clock) -> Timing | None:
        return next((each for each in self.timings if each.contender is contender and each.clock is clock), None)
