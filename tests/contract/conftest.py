"""Fixtures that several contract tests share."""

from collections.abc import Iterator

import pytest

from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerPool]:
    """A worker pool without a referee, shared by the tests of a file."""
    made = WorkerPool(WorkerPlace(sandbox.chosen("auto"), tmp_path_factory.mktemp("scratch")))
    yield made
    made.close()
