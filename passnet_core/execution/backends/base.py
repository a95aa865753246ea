"""The interface of a backend: a job goes in, exactly one outcome comes out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from passnet_core.records import (
    Baseline,
    Bundle,
    Device,
    Environment,
    Evidence,
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

T = TypeVar("T")


@dataclass(frozen=True)
class JobEvent:
    """Progress of a job, as a sentence. In the phase LOG, text is the end of what the candidate has printed."""

    phase: Phase
    text: str


Listen = Callable[[JobEvent], None]


class Cancellation(Protocol):
    """Whether who asked has given up, such as an Event that is set then."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True)
class DeviceInfo:
    """The device on which jobs run. environment: None if unknown. problem: why nothing can be judged here, or empty.
    spares: how many warm spares its machine has room for."""

    device: Device
    label: str
    isolation: Isolation
    environment: Environment | None = None
    problem: str = ""
    spares: int = 1


@dataclass(frozen=True)
class Capacity:
    """How much a backend does at once. devices: where jobs can run; the first is the default.

    judges: number of jobs of any kind at once. checkers: number of further judges, which take only work without values
    and clocks, so that a check never waits for a measurement. Without checkers, the judges take that work too.
    spares: number of processes that each judge keeps warm, so that as many bundles need not wait for one to start.
    may_grow: judges and checkers may become more, so ask again now and then; asking is quick."""

    devices: tuple[DeviceInfo, ...]
    judges: int = 1
    checkers: int = 0
    spares: int = 1
    may_grow: bool = False


@dataclass(frozen=True)
class Question(Generic[T]):
    """A question about a subgraph that needs no verdict. T is the type of the answer.

    light: answering needs no values and no clock."""

    light = False


@dataclass(frozen=True)
class InspectSubgraph(Question[Inspection]):
    """Which shapes and dtypes do a subgraph's nodes give and, with_code, which code does this baseline generate?"""

    subgraph: Subgraph
    device: Device
    with_code: bool = False
    baseline: Baseline = Baseline.INDUCTOR


@dataclass(frozen=True)
class CompileKernels(Question[PassKernels]):
    """What does Triton compile for the kernels that a bundle launches on a subgraph?"""

    subgraph: Subgraph
    bundle: Bundle
    device: Device


@dataclass(frozen=True)
class TracePrograms(Question[PassTrace]):
    """Which elements do the programs of the kernels access that a bundle launches on a subgraph, on a CPU?"""

    subgraph: Subgraph
    bundle: Bundle
    device = Device.CPU


@dataclass(frozen=True)
class MatchSources(Question["SourceMatches"]):
    """How often does a bundle match in each of these sources? job: a CHECK job that loads the bundle."""

    job: Job
    sources: tuple[str, ...]
    light = True


@dataclass(frozen=True)
class SourceMatches:
    """The answer to MatchSources. outcome: the outcome of its job.

    counts: number of matches per source, None if it cannot be read or rewritten. Empty if the passes do not load; the
    outcome says why."""

    outcome: Outcome
    counts: tuple[int | None, ...] = ()


MOST_SPARES = 8
"""How many warm spares a judge can use: a job takes as long as several of them to start."""


def spares_each(room: int, judges: int) -> int:
    """How many warm spares each of these judges keeps on a machine that has room for so many."""
    return max(1, min(MOST_SPARES, room // max(1, judges)))


class Backend(Protocol):
    """Runs jobs. Safe to call from as many threads at once as its capacity has judges and checkers."""

    def capacity(self) -> Capacity:
        """How much this backend can do. Quick after the first call, and constant unless there is a problem."""

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        """Judge the job and return its one outcome, whatever happens; CANCELLED soon after the event is set."""

    def inspect(self, question: Question[T], cancelled: Cancellation) -> T:
        """Answer a question. Raises BadInput if it is invalid, InfrastructureError on failure or if cancelled."""

    def close(self) -> None:
        """End all processes for good. A running job ends as cancelled. May be called twice."""


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
    """The outcome of a job that no judge finished: an infrastructure error, or cancelled."""
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
