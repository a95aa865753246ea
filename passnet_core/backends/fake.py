"""A backend for tests of everything but judging: answers come from a function."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from passnet_core.backends.base import DeviceInfo, JobEvent, Survey, outcome_without_judge
from passnet_core.records import (
    Bundle,
    Device,
    Environment,
    Inspection,
    Isolation,
    Job,
    Outcome,
    PassKernels,
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
)


def uninspected(subgraph: Subgraph) -> Inspection:
    """An inspection that found nothing."""
    return Inspection(subgraph.digest, FAKE_ENVIRONMENT, code_problem="The fake judge has no compiler.")


def uncompiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
    """Kernels of which nothing is known."""
    return PassKernels(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, problem="The fake judge compiles no kernel.")


class FakeBackend:
    """Answers each job with answer(job), and remembers the jobs it was given, in order. matches: how many matches a
    source has. inspection: what is said of a subgraph; compiling: of a bundle's kernels on one."""

    def __init__(
        self,
        answer: Callable[[Job], Outcome],
        device: Device = Device.CPU,
        matches: Callable[[str], int | None] = lambda code: 0,
        inspection: Callable[[Subgraph], Inspection] = uninspected,
        compiling: Callable[[Subgraph, Bundle], PassKernels] = uncompiled,
    ) -> None:
        self.answer = answer
        self.matches = matches
        self.device = device
        self.inspection = inspection
        self.compiling = compiling
        self.jobs: list[Job] = []
        self.inspected: list[tuple[Subgraph, bool]] = []
        self.compiled: list[tuple[Subgraph, Bundle]] = []

    def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Outcome:
        self.jobs.append(job)
        listen(JobEvent("start", "The fake judge has the job."))
        if cancelled.is_set():
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled.")
        outcome = self.answer(job)
        return outcome if outcome.environment else replace(outcome, environment=FAKE_ENVIRONMENT)

    def survey(self, job: Job, codes: Sequence[str], cancelled: threading.Event) -> Survey:
        outcome = self.run(job, lambda event: None, cancelled)
        loaded = outcome.verdict.accepted or outcome.verdict is Verdict.NO_MATCH
        return Survey(outcome, tuple(map(self.matches, codes)) if loaded else ())

    def inspect(self, subgraph: Subgraph, device: Device, cancelled: threading.Event, *, with_code: bool) -> Inspection:
        self.inspected.append((subgraph, with_code))
        return self.inspection(subgraph)

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device, cancelled: threading.Event) -> PassKernels:
        self.compiled.append((subgraph, bundle))
        return self.compiling(subgraph, bundle)

    def info(self) -> DeviceInfo:
        return DeviceInfo(self.device, FAKE_ENVIRONMENT.device, FAKE_ENVIRONMENT.isolation, FAKE_ENVIRONMENT)
