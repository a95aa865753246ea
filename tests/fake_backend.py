"""A backend for tests of everything but judging. Functions give its answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from passnet_core.execution.backends.base import (
    Cancellation,
    Capacity,
    CompileKernels,
    DeviceInfo,
    InspectSubgraph,
    JobEvent,
    Listen,
    MatchSources,
    SourceMatches,
    TracePrograms,
    outcome_without_judge,
)
from passnet_core.records import (
    CLOCK_VERSION,
    Bundle,
    Device,
    Environment,
    Inspection,
    Isolation,
    Job,
    Outcome,
    PassKernels,
    PassTrace,
    Phase,
    Subgraph,
    Verdict,
)

FAKE_ENVIRONMENT = Environment(
    device="fake device",
    driver="",
    python="3.11",
    torch="0",
    triton="0",
    isolation=Isolation.PROCESS,
    judge_digest="fake",
    clock_version=CLOCK_VERSION,
)


def uninspected(subgraph: Subgraph) -> Inspection:
    """An inspection without results."""
    return Inspection(subgraph.digest, FAKE_ENVIRONMENT, code_problem="The fake judge has no compiler.")


def uncompiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
    """An inspection of kernels without results."""
    return PassKernels(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, problem="The fake judge compiles no kernel.")


def untraced(subgraph: Subgraph, bundle: Bundle) -> PassTrace:
    """A trace without results."""
    return PassTrace(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, problem="The fake judge runs no kernel.")


class FakeBackend:
    """Answers a job with answer(job), and questions with the other functions. Records all requests in order."""

    def __init__(
        self,
        answer: Callable[[Job], Outcome],
        device: Device = Device.CPU,
        matches: Callable[[str], int | None] = lambda code: 0,
        inspection: Callable[[Subgraph], Inspection] = uninspected,
        compiling: Callable[[Subgraph, Bundle], PassKernels] = uncompiled,
        tracing: Callable[[Subgraph, Bundle], PassTrace] = untraced,
        judges: int = 1,
        checkers: int = 1,
    ) -> None:
        self.answer, self.matches, self.inspection = answer, matches, inspection
        self.compiling, self.tracing = compiling, tracing
        here = DeviceInfo(device, FAKE_ENVIRONMENT.device, FAKE_ENVIRONMENT.isolation, FAKE_ENVIRONMENT)
        self.told = Capacity((here,), judges, checkers)
        self.jobs: list[Job] = []
        self.inspected: list[tuple[Subgraph, bool]] = []
        self.compiled: list[tuple[Subgraph, Bundle]] = []
        self.traced: list[tuple[Subgraph, Bundle]] = []
        self.closed = False

    def capacity(self) -> Capacity:
        return self.told

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        self.jobs.append(job)
        listen(JobEvent(Phase.START, "The fake judge has the job."))
        if cancelled.is_set():
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled.")
        outcome = self.answer(job)
        return outcome if outcome.environment else replace(outcome, environment=FAKE_ENVIRONMENT)

    def inspect(self, question: Any, cancelled: Cancellation) -> Any:
        match question:
            case InspectSubgraph(subgraph=subgraph, with_code=with_code, baseline=baseline):
                self.inspected.append((subgraph, with_code))
                return replace(self.inspection(subgraph), baseline=baseline)
            case CompileKernels(subgraph=subgraph, bundle=bundle):
                self.compiled.append((subgraph, bundle))
                return self.compiling(subgraph, bundle)
            case TracePrograms(subgraph=subgraph, bundle=bundle):
                self.traced.append((subgraph, bundle))
                return self.tracing(subgraph, bundle)
            case MatchSources(job=job, sources=sources):
                outcome = self.run(job, lambda event: None, cancelled)
                loaded = outcome.verdict.accepted or outcome.verdict is Verdict.NO_MATCH
                return SourceMatches(outcome, tuple(map(self.matches, sources)) if loaded else ())

    def close(self) -> None:
        self.closed = True
