"""What was asked at one time."""

from dataclasses import dataclass

from passnet_core.records.enums import SolverKind
from passnet_core.records.jobs import EvalSpec


@dataclass(frozen=True)
class Run:
    """What was asked at one time: a solver on subgraphs of one or more tasks. recorded: loaded from a data file."""

    id: str
    label: str
    started_at: str
    solver: SolverKind
    bundle_digest: str | None
    spec: EvalSpec
    task_ids: tuple[str, ...]
    job_digests: tuple[str, ...]
    recorded: str = ""
    """Where and when it was recorded; empty: made here."""
