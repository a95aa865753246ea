"""Shared by the tests of this folder: the corpus files as test cases, and judging one of them."""

import threading
from dataclasses import replace

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Device, Outcome
from tests.adversarial.corpus import Entry, entries
from tests.waiting import seconds

SEED = 7
"""The seed of the inputs: tests must give the same result each time. python -m tests.adversarial takes new seeds."""


def judged(backend: LocalBackend, entry: Entry, device: Device, *, seed: int | None = None) -> Outcome:
    job = entry.job(device, seed=seed)
    # on a busy machine too, no verdict may become a timeout
    patient = replace(job, spec=replace(job.spec, deadline_s=seconds(60)))
    return backend.run(patient, lambda event: None, threading.Event())


def cases(*families: str) -> list[object]:
    """The test cases of all files: on the CPU for each file that does not need a GPU, and on the GPU for every file."""
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
