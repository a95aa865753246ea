"""The seam between the scheduler and whatever judges: a job goes in, exactly one outcome comes out."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from passnet_core.records import (
    Bundle,
    Device,
    Environment,
    Evidence,
    Inspection,
    Isolation,
    Job,
    Outcome,
    PassKernels,
    Phase,
    Subgraph,
    Verdict,
)

T = TypeVar("T")


@dataclass(frozen=True)
class JobEvent:
    """What happens to a job meanwhile, in a sentence; of the phase LOG, the end of what the candidate has printed."""

    phase: Phase
    text: str


Listen = Callable[[JobEvent], None]


@dataclass(frozen=True)
class DeviceInfo:
    """Where jobs run. environment None: it could not be found out. problem: why nothing can be judged here."""

    device: Device
    label: str
    isolation: Isolation
    environment: Environment | None = None
    problem: str = ""


@dataclass(frozen=True)
class Capacity:
    """What a backend does at once: so many jobs, each in a judge of its own, on these devices (the first is the
    default). checkers: judges that take only what needs no values and no clock, so that a check never waits for a
    measurement; with none, the judges take that too."""

    devices: tuple[DeviceInfo, ...]
    judges: int = 1
    checkers: int = 0


@dataclass(frozen=True)
class Question(Generic[T]):
    """Something to be found out about a subgraph, for which nothing is judged. T is what answers it.

    light: it needs no values and no clock.
    """

    light = False


@dataclass(frozen=True)
class InspectSubgraph(Question[Inspection]):
    """What eager and, with_code, TorchInductor make of a subgraph."""

    subgraph: Subgraph
    device: Device
    with_code: bool = False


@dataclass(frozen=True)
class CompileKernels(Question[PassKernels]):
    """What Triton makes of the kernels that a bundle launches on a subgraph."""

    subgraph: Subgraph
    bundle: Bundle
    device: Device


@dataclass(frozen=True)
class MatchSources(Question["SourceMatches"]):
    """How often a bundle matches in the sources of other subgraphs, which takes milliseconds for each. job: a CHECK
    job, with which the bundle is loaded."""

    job: Job
    sources: tuple[str, ...]
    light = True


@dataclass(frozen=True)
class SourceMatches:
    """What MatchSources found. outcome: of its job. counts: matches in each source, None where it cannot be read or
    rewritten; empty where the passes could not be loaded, which the outcome explains."""

    outcome: Outcome
    counts: tuple[int | None, ...] = ()


class Backend(Protocol):
    """Where jobs run. Safe to call from as many threads at once as its capacity has judges and checkers."""

    def capacity(self) -> Capacity:
        """Quick after the first time, and the same each time, unless it is in trouble."""
        ...

    def run(self, job: Job, listen: Listen, cancelled: threading.Event) -> Outcome:
        """Judges the job and returns its one outcome, whatever happens; CANCELLED soon after the event is set."""
        ...

    def inspect(self, question: Question[T], cancelled: threading.Event) -> T:
        """Raises BadInput for what cannot be asked, InfrastructureError where this backend cannot say, also when
        cancelled."""
        ...

    def close(self) -> None:
        """Ends all that it has started, for good. A job under way ends as cancelled. May be called twice."""
        ...


def outcome_without_judge(
    job: Job,
    verdict: Verdict,
    reason: str,
    *,
    environment: Environment | None = None,
    wall_s: float = 0.0,
    evidence: tuple[Evidence, ...] = (),
    log_tail: str = "",
) -> Outcome:
    """The outcome of a job that no judge could finish: an infrastructure error, or cancelled."""
    return Outcome(
        **job.outcome_fields,
        verdict=verdict,
        reason=reason,
        environment=environment,
        wall_s=wall_s,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        evidence=evidence,
        log_tail=log_tail,
    )
