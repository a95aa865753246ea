"""Outcomes: the answer to a job, which is a verdict with everything that supports it."""

from collections.abc import Mapping
from dataclasses import dataclass

from passnet_core.records.accuracy import Accuracy
from passnet_core.records.bundles import Finding
from passnet_core.records.enums import (
    ERROR_CLASS,
    RIGHT,
    TIMED,
    WRONG,
    Baseline,
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

# topics of evidence that other parts of the package look for
LAUNCHED = "kernels launched"
NOISE_FLOOR = "noise floor"
TIMED_CALLS = "timed calls"
MEMORY_FLOOR = "memory floor"
"""Its figures: moved_bytes, the size of all inputs and outputs; bytes_per_us, the bandwidth of a copy on the device."""
EXECUTED = "executed plans"
"""Its figures: launches, how many a call makes; moved_bytes, the size of all tensors that each launch and
copy is given; least_bytes, the size of all inputs and outputs. Without figures if the kernels did not compute."""
REPLAY = "replay of a captured graph"
"""Its figures: per contender whose call could be captured as a CUDA graph, the time of a replay in microseconds."""


@dataclass(frozen=True)
class Evidence:
    """One fact that supports a verdict. topic: what was examined. text: the finding. figures: (name, value) pairs."""

    topic: str
    text: str
    figures: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The one answer to a job. The verdict decides which fields are set; an impossible combination raises ValueError.

    dtype: the subgraph's. bundle_digest: None where the solver is Inductor. reason: the verdict in a sentence.
    environment: None if no judge answered. wall_s: how long judging took. match, accuracy: None if the job did not get
    that far. timings, speedups: per contender and clock. log_tail: the end of the candidate worker's output."""

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
    """ISO 8601, UTC."""
    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    accuracy: Accuracy | None = None
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    noise: float | None = None
    """The noise floor: by what share (0.02 is 2%) eager's end-to-end time may differ from itself, which is the farther
    end of the 95% interval of that ratio; None: not measured."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    log_tail: str = ""

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ValueError(f"Impossible outcome with the verdict {self.verdict.value!r}: {problem}.")

    def _problem(self) -> str:
        verdict = self.verdict
        if not self.reason:
            return "it has no reason"
        if (self.bundle_digest is None) != (self.solver is SolverKind.INDUCTOR):
            return "passes need a bundle digest, Inductor must have none"
        if verdict is Verdict.REJECTED and not any(finding.fatal for finding in self.findings):
            return "it needs a fatal finding"
        if verdict is Verdict.NO_MATCH and (self.match is None or self.match.count):
            return "it needs a match report without matches"
        if verdict is Verdict.MATCHED and (self.match is None or not self.match.count):
            return "it needs a match report with matches"
        if verdict in RIGHT | WRONG and self.accuracy is None:
            return "it needs the accuracy of the values"
        if verdict in RIGHT and self.solver is SolverKind.PASSES and (self.match is None or not self.match.count):
            return "accepted passes need a match"
        if (verdict in TIMED) != bool(self.speedups):
            return "timed verdicts need speedups, and speedups belong to timed verdicts only"
        if verdict.judged and self.environment is None:
            return "it needs an environment"
        return ""

    @property
    def error_class(self) -> ErrorClass | None:
        """GraphNet's class of this failure; None: the verdict is not a failure, or nothing was judged."""
        return ERROR_CLASS[self.verdict]

    @property
    def baseline(self) -> Baseline | None:
        """The baseline that is the solver; None where passes are."""
        return self.spec.baseline if self.solver is SolverKind.INDUCTOR else None

    def speedup(self, clock: Clock = Clock.END_TO_END, contender: Contender | None = None) -> Speedup | None:
        """Return the solver's own speedup on this clock, or another contender's; None: not timed."""
        who = contender or self.solver.contender
        return next((each for each in self.speedups if each.clock is clock and each.contender is who), None)

    def figures(self, topic: str) -> Mapping[str, float]:
        """Return the figures of the evidence on this topic, by name; {} if there is none."""
        return {name: value for each in self.evidence if each.topic == topic for name, value in each.figures}

    def timing(self, contender: Contender, clock: Clock) -> Timing | None:
        return next((each for each in self.timings if each.contender is contender and each.clock is clock), None)
