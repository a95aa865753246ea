"""The real judge, for tests that need verdicts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from passnet_core.execution.backends.local import LocalBackend


@contextmanager
def running_backend(home: Path) -> Iterator[LocalBackend]:
    """The real judge in its sandbox, with one lane. It starts at once, so that the first job waits less."""
    backend = LocalBackend(sys.executable, "auto", home, checkers=0)
    try:
        backend.prepare()
        yield backend
    finally:
        backend.close()
