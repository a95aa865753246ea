"""Locks on the GPU and on a processor core. Several judges share a machine; a judge that measures has both to itself.

Work beside a timed call shows in its time: two processes on one GPU take turns of about a millisecond each."""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

SIGN_OF_LIFE_S = 5.0
"""How often a judge that waits reports it."""
POLL_S = 0.02


def lock_file(home: Path) -> Path:
    """The file whose lock the judges of one device share."""
    return home / "device.lock"


class DeviceLock:
    """A reader-writer lock: many judges may compute at once, or one may measure.

    Requests are served in order, so that a measurement is not starved. The kernel releases the locks of a process that
    ends, however it ends. home: the folder whose lock files the judges of one device share; None: nothing is shared.
    waiting: called every few seconds with a sentence that says what is waited for."""

    def __init__(self, home: Path | None, waiting: Callable[[str], None]) -> None:
        self.home = home
        self.waiting = waiting
        self._share = contextlib.ExitStack()

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Hold the device for measuring: nobody else computes on it."""
        return self._locked(fcntl.LOCK_EX, "Waiting until nobody else uses the device.")

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the device for computing: nobody measures meanwhile."""
        with self._share:
            self._take_share()
            yield

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within shared(): release the device during long work that hardly touches it."""
        self._share.close()
        yield
        self._take_share()

    def _take_share(self) -> None:
        self._share.enter_context(self._locked(fcntl.LOCK_SH, "Waiting for another measurement to end."))

    @contextlib.contextmanager
    def _locked(self, how: int, words: str) -> Iterator[None]:
        if self.home is None:
            yield
            return
        with lock_file(self.home).open("a") as device:
            # the turn goes to one waiter at a time; without it, computing judges would keep a measuring one out
            with (self.home / "device.turn").open("a") as turn:
                self._wait_for(turn, fcntl.LOCK_EX, words)
                self._wait_for(device, how, words)
            yield

    def _wait_for(self, file: IO[str], how: int, words: str) -> None:
        last_sign = 0.0
        while True:
            try:
                fcntl.flock(file, how | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() - last_sign > SIGN_OF_LIFE_S:
                    last_sign = time.monotonic()
                    self.waiting(words)
                time.sleep(POLL_S)


CORES_TRIED, CORE_TRIALS, COUNTED = 8, 6, 20_000
"""The search for a steady core: how many cores, trials per core, and additions per trial."""


@contextlib.contextmanager
def steady_core() -> Iterator[int | None]:
    """Claim a core for timed calls, which run one after the other. None: the machine has fewer than four cores.

    It picks the steadiest of several, because a neighbour on a shared machine may keep a core's other hardware thread
    busy. No other judge of this machine gets this core, or its other thread, until this returns."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 4:
        yield None
        return
    try:
        tried = {}
        for core in sorted(allowed)[-CORES_TRIED:]:
            os.sched_setaffinity(0, {core})
            tried[core] = sum(sorted(_counting() for _ in range(CORE_TRIALS))[CORE_TRIALS // 2 :])
    finally:
        os.sched_setaffinity(0, allowed)
    by_speed = sorted(tried, key=lambda core: tried[core])
    with contextlib.ExitStack() as claims:
        yield next((core for core in by_speed if _claimed(core, claims)), by_speed[0])


def _counting() -> float:
    start = time.perf_counter()
    sum(range(COUNTED))
    return time.perf_counter() - start


def _claimed(core: int, claims: contextlib.ExitStack) -> bool:
    """Whether the core was free, and is now claimed: by an abstract socket, which ends with its process."""
    claim = claims.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        claim.bind(f"\0passnet-core-{_first_half(core)}")
    except OSError:
        return False
    return True


def _first_half(core: int) -> int:
    """The first hardware thread of the physical core that this one belongs to."""
    try:
        told = Path(f"/sys/devices/system/cpu/cpu{core}/topology/core_cpus_list").read_text()
    except OSError:
        return core
    digits = told.strip().replace("-", ",").partition(",")[0]
    return int(digits) if digits.isdigit() else core
