"""What runs on a node of the cluster: a judge in a Ray worker. It needs Python, torch, triton, ray and this package.

The judge is that of the local backend: the same launcher, the same sandbox. Its processes end when their channel to
this worker closes, however the worker ends."""

import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from passnet_core.errors import InfrastructureError, PlaygroundError
from passnet_core.execution.backends.base import JobEvent
from passnet_core.execution.backends.cluster import words
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, to_json

VISIBLE = "CUDA_VISIBLE_DEVICES"
THREADS = "OMP_NUM_THREADS"


def described(isolation: str) -> dict[str, Any]:
    """This node's best device, as data."""
    return to_json(LocalBackend(sys.executable, isolation, Path(tempfile.gettempdir())).info())


class NodeJudge:
    """One judge, which does one job after another and stays warm between them. Ray has given its worker one GPU, or
    CPUs. Other threads may call cancel."""

    def __init__(self, isolation: str, spares: int, threads: int | None) -> None:
        """threads: how many each of its processes computes with, None: as many as on any machine."""
        os.environ.pop(THREADS, None)  # Ray's own choice
        if threads is not None:
            os.environ[THREADS] = str(threads)
        self._backend = LocalBackend(
            sys.executable, isolation, home_of(os.environ.get(VISIBLE, "")), checkers=0, spares=spares
        )
        self._cancelled: dict[int, threading.Event] = {}

    def described(self) -> dict[str, Any]:
        return to_json(self._backend.info())

    def answer(self, number: int, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the events of a job or a question, then its answer or its problem. number: names it in cancel."""
        told: SimpleQueue[dict[str, Any]] = SimpleQueue()
        cancelled = self._cancelled.setdefault(number, threading.Event())

        def work() -> None:
            last = words.problem_as_json(InfrastructureError("The judge of a node failed."))
            try:
                last = self._answered(words.asked_from_json(asked), told, cancelled)
            except PlaygroundError as error:
                last = words.problem_as_json(error)
            finally:
                told.put(last)

        threading.Thread(target=work, name="passnet-node", daemon=True).start()
        try:
            while True:
                each = told.get()
                yield each
                if "event" not in each:
                    return
        finally:
            cancelled.set()
            self._cancelled.pop(number, None)

    def cancel(self, number: int) -> None:
        """End a job soon. It may be one that is yet to arrive."""
        self._cancelled.setdefault(number, threading.Event()).set()

    def close(self) -> None:
        """End all processes of the judge, and wait for that."""
        self._backend.close()

    def _answered(self, asked: Any, told: "SimpleQueue[dict[str, Any]]", cancelled: threading.Event) -> dict[str, Any]:
        def listen(event: JobEvent) -> None:
            told.put({"event": {"stage": event.phase.value, "text": event.text}})

        if isinstance(asked, Job):
            return words.answer_as_json(self._backend.run(asked, listen, cancelled))
        return words.answer_as_json(self._backend.inspect(asked, cancelled))


def home_of(visible: str) -> Path:
    """The folder of locks, caches and scratch files of the judges on these GPUs, or on none: this user's own, below the
    folder of temporary files. Judges of one GPU share it, and so wait for each other's measurements.

    Raises InfrastructureError if somebody else owns it."""
    user = os.getuid()
    base = Path(tempfile.gettempdir()) / f"passnet-node-{user}"
    with suppress(FileExistsError):
        base.mkdir(mode=0o700)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o077:
        raise InfrastructureError(f"{base} on the node must be a folder of its user alone. Remove it.")
    home = base / ("".join(each if each.isalnum() else "-" for each in visible)[:100] or "cpu")
    home.mkdir(exist_ok=True)
    return home
