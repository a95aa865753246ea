"""Runs: the jobs of one request."""

from dataclasses import dataclass

from passnet_core.records.enums import SolverKind
from passnet_core.records.jobs import EvalSpec


@dataclass(frozen=True)
class Run:
    """The jobs of one request: one solver on subgraphs of one or more tasks, under one spec. started_at: ISO 8601, UTC.
    bundle_digest: None where the solver is Inductor. job_digests: in the order of the jobs."""

    id: str
    label: str
    started_at: str
    solver: SolverKind
    bundle_digest: str | None
    spec: EvalSpec
    task_ids: tuple[str, ...]
    job_digests: tuple[str, ...]
    recorded: str = ""
    """For a run that was loaded from a file: where and when it was made, in words. Empty: it was made here."""
