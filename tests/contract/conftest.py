"""Fixtures that several contract tests share."""

from collections.abc import Iterator

import pytest

from passnet_core.execution.backends import local
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from tests.waiting import seconds


@pytest.fixture(autouse=True)
def _patient_inspections() -> Iterator[None]:
    """Have the judge answer questions within a time that grows with the load."""
    with pytest.MonkeyPatch.context() as patching:
        for name in ("INSPECTION_LIMIT_S", "COMPILING_LIMIT_S", "TRACING_LIMIT_S"):
            patching.setattr(local, name, seconds(60))
        yield


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerPool]:
    """A worker pool without a referee, shared by the tests of a file."""
    made = WorkerPool(WorkerPlace(sandbox.chosen("auto"), tmp_path_factory.mktemp("scratch")))
    yield made
    made.close()
