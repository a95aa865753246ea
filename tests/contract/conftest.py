"""What several contract tests share."""

import sys
from collections.abc import Iterator

import pytest

from passnet_core.backends.local import LocalBackend


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    """The real judge in its sandbox, one for all tests of a file."""
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), lanes=("run",))
    made.prepare()
    yield made
    made.close()
