"""The jobs of a request, one per subgraph, and the run that they form."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from passnet_core.errors import BadInput
from passnet_core.records import Bundle, EvalSpec, Job, Outcome, Run, Task


def jobs_of(
    task: Task, bundle: Bundle | None, spec: EvalSpec, subgraph_ids: Sequence[str] | None = None
) -> tuple[Job, ...]:
    """One job per subgraph. Raises UnknownItem if the task lacks a given subgraph, BadInput if there is none."""
    subgraphs = task.subgraphs if subgraph_ids is None else [task.subgraph(each) for each in subgraph_ids]
    if not subgraphs:
        raise BadInput(f"Task {task.id!r} has no subgraph to judge. Choose another task.")
    return tuple(Job(subgraph, bundle, spec) for subgraph in subgraphs)


def of_job(outcome: Outcome, job: Job) -> Outcome:
    """The outcome of an equal job as this job's, whose subgraph may lie in another task."""
    return replace(outcome, task_id=job.subgraph.task_id, subgraph_id=job.subgraph.id)


def new_run_id() -> str:
    """An id that no other run has."""
    return f"{datetime.now(UTC):%y%m%d}-{secrets.token_hex(4)}"


def new_run(jobs: Sequence[Job], *, label: str = "", recorded: str = "", run_id: str = "") -> Run:
    """A run, started now, of these jobs, which share their bundle and spec. run_id: empty for a new one."""
    first = jobs[0]
    return Run(
        id=run_id or new_run_id(),
        label=label,
        started_at=now(),
        solver=first.solver,
        bundle_digest=None if first.bundle is None else first.bundle.digest,
        spec=first.spec,
        task_ids=tuple(dict.fromkeys(job.subgraph.task_id for job in jobs)),
        job_digests=tuple(job.digest for job in jobs),
        recorded=recorded,
    )


def now() -> str:
    """The current time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
