"""What several contract tests share."""

import sys
from collections.abc import Iterator

import pytest

from passnet_core.backends.local import LocalBackend
from passnet_core.judge import sandbox
from passnet_core.judge.pool import Place, Pool


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    """The real judge in its sandbox, one for all tests of a file."""
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), lanes=("run",))
    made.prepare()
    yield made
    made.close()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """The judge's processes without a referee, one pool for all tests of a file."""
    made = Pool(Place(sandbox.chosen("auto"), tmp_path_factory.mktemp("scratch")))
    yield made
    made.close()
