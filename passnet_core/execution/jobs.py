"""What is judged for a request: one job per subgraph, and the run that they make up."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from passnet_core.errors import BadInput
from passnet_core.records import Bundle, EvalSpec, Job, Run, Task


def jobs_of(
    task: Task, bundle: Bundle | None, spec: EvalSpec, subgraph_ids: Sequence[str] | None = None
) -> tuple[Job, ...]:
    """One job per subgraph. Raises UnknownItem for a subgraph that the task has not, BadInput where none is left."""
    subgraphs = task.subgraphs if subgraph_ids is None else [task.subgraph(each) for each in subgraph_ids]
    if not subgraphs:
        raise BadInput(f"Task {task.id!r} has no subgraph to judge. Choose another task.")
    return tuple(Job(subgraph, bundle, spec) for subgraph in subgraphs)


def new_run(jobs: Sequence[Job], *, label: str = "", recorded: str = "") -> Run:
    """A run of these jobs, which share bundle and spec, starting now."""
    first = jobs[0]
    return Run(
        id=f"{datetime.now(UTC):%y%m%d}-{secrets.token_hex(4)}",
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
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
