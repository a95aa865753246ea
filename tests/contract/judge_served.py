"""The judge's service over a port of this machine, for tests that call it as its users do."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from passnet_client import JudgeClient
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import write_task
from passnet_core.execution.backends.base import Backend
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Task
from passnet_core.server.judge_service import ServiceLimits, judge_service
from passnet_core.server.ledger import Ledger
from tests.contract.listening import listening


@contextlib.contextmanager
def served(
    folder: Path,
    backend: Backend,
    tasks: Sequence[Task],
    *,
    tokens: Mapping[str, str] | None = None,
    limits: ServiceLimits | None = None,
    patience_s: float = 0.0,
) -> Iterator[JudgeClient]:
    """Serve these tasks, and yield a client. folder: of the tasks and the ledger. The backend stays open."""
    for task in tasks:
        if not (folder / "tasks" / task.id).exists():  # a service that is started again finds them
            write_task(task, folder / "tasks" / task.id)
    scheduler, ledger = Scheduler(KeptOpen(backend)), Ledger(folder)
    app = judge_service(
        Corpus([folder / "tasks"]), scheduler, ledger, tokens=tokens or {}, limits=limits or ServiceLimits()
    )
    try:
        with listening(app, before_end=scheduler.close) as url:
            token = next(iter((tokens or {}).values()), "")
            yield JudgeClient(url, token, patience_s=patience_s)
    finally:
        ledger.close()


class KeptOpen:
    """A backend that a scheduler cannot close, since other tests use it."""

    def __init__(self, backend: Backend) -> None:
        self.capacity, self.run, self.inspect = backend.capacity, backend.run, backend.inspect

    def close(self) -> None:
        """Leave it open."""
