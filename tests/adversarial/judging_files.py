"""What the tests of this folder share: one backend, and a file judged by it."""

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from passnet_core.backends.local import LocalBackend
from passnet_core.records import Device, Outcome
from tests.adversarial.corpus import Entry, entries

SEED = 7
"""Of the inputs in tests, which must say the same each time; python -m tests.adversarial draws them anew."""


@contextmanager
def running_backend() -> Iterator[LocalBackend]:
    with tempfile.TemporaryDirectory(prefix="adversarial-") as home:
        backend = LocalBackend(sys.executable, "auto", Path(home), lanes=("run",))
        try:
            backend.prepare()
            yield backend
        finally:
            backend.close()


def judged(backend: LocalBackend, entry: Entry, device: Device, *, seed: int | None = None) -> Outcome:
    return backend.run(entry.job(device, seed=seed), lambda event: None, threading.Event())


def cases(*families: str) -> list[object]:
    """One case per file and device: on the CPU unless it needs a GPU, and on the GPU all of them."""
    found: list[object] = []
    for entry in entries(*families):
        if not entry.needs_gpu:
            found.append(pytest.param(entry, Device.CPU, id=entry.name))
        found.append(pytest.param(entry, Device.CUDA, id=f"{entry.name}-cuda", marks=pytest.mark.gpu))
    return found


def assert_as_stated(backend: LocalBackend, entry: Entry, device: Device) -> None:
    outcome = judged(backend, entry, device, seed=SEED)
    evidence = "\n".join(f"{each.topic}: {each.text}" for each in outcome.evidence)
    deviation = entry.deviation(outcome)
    assert not deviation, f"{entry.name}: {deviation}\nIt tries: {entry.tries}\n{evidence}\n{outcome.log_tail}"
