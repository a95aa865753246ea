"""The seam between the service and whatever judges: a job goes in, exactly one outcome comes out."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

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
    Subgraph,
    Verdict,
)


@dataclass(frozen=True)
class JobEvent:
    """What happens to a job meanwhile. stage: "queued", "start", "rules", "load", "match", "prepare", "verify" or
    "measure", with a sentence; or "log", with the end of what the candidate has printed."""

    stage: str
    text: str


@dataclass(frozen=True)
class DeviceInfo:
    """Where jobs run. environment None: it could not be found out. problem: why nothing can be judged here."""

    device: Device
    label: str
    isolation: Isolation
    environment: Environment | None = None
    problem: str = ""


@dataclass(frozen=True)
class Survey:
    """What a bundle matches in many sources. outcome: of the job it was asked with. counts: matches in each source,
    None where it cannot be read or rewritten; empty where the passes could not be loaded, which the outcome explains.
    """

    outcome: Outcome
    counts: tuple[int | None, ...] = ()


class Backend(Protocol):
    """Where a job runs. Safe to call from several threads."""

    def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Outcome:
        """Judges the job and returns its one outcome, whatever happens; CANCELLED soon after the event is set."""
        ...

    def survey(self, job: Job, codes: Sequence[str], cancelled: threading.Event) -> Survey:
        """Runs a CHECK job, and matches its passes against the sources of other subgraphs, which takes milliseconds
        for each."""
        ...

    def inspect(self, subgraph: Subgraph, device: Device, cancelled: threading.Event, *, with_code: bool) -> Inspection:
        """What eager and TorchInductor make of a subgraph, without judging anything; it waits for its turn like a job.
        Raises BadInput for a subgraph that cannot be run, InfrastructureError where this backend cannot say, also when
        cancelled."""
        ...

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device, cancelled: threading.Event) -> PassKernels:
        """What Triton makes of the kernels that a bundle launches on a subgraph, without judging anything; waits and
        raises as inspect."""
        ...

    def info(self) -> DeviceInfo:
        """Quick, and the same each time."""
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
