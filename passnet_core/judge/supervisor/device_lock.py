"""Who may use the GPU, and which core, just now. Several judges share a machine; one that measures has them alone.

What runs beside a timed call shows in its time: two processes on one GPU take turns of about a millisecond each.
"""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

SIGN_OF_LIFE_S = 5.0
"""How often somebody who waits says so."""
POLL_S = 0.02


class DeviceLock:
    """Held by many who compute, or by one who measures. Who waits comes before whoever asks later, so that measuring
    need not wait for ever. The locks end with their process, however that ends.

    home: where the judges of one device meet; None where there is nothing to share. waiting: called now and then with
    what is waited for.
    """

    def __init__(self, home: Path | None, waiting: Callable[[str], None]) -> None:
        self.home = home
        self.waiting = waiting
        self._share = contextlib.ExitStack()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """For measuring: nobody else computes on the device."""
        with self._locked(fcntl.LOCK_EX, "Waiting until nobody else uses the device."):
            yield

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """For computing: nobody measures meanwhile."""
        with self._share:
            self._take_share()
            yield

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within shared(): gives the share back, for what takes long and hardly touches the device."""
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
        with (self.home / "device.lock").open("a") as device:
            # whoever has the turn is next; without it those who share would come and go before one who measures
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
"""Of the search for a steady core: how many, how often, how long."""


@contextlib.contextmanager
def steady_core() -> Iterator[int | None]:
    """A core for timed calls, which come one after the other; None where there are few. No other judge of this machine
    takes it, nor the other half of it, meanwhile.

    The steadiest of some: on a shared machine a neighbour may be busy on the other half of one.
    """
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
    """Whether no other judge had it. A name that ends with whoever holds it, and needs no file."""
    claim = claims.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        claim.bind(f"\0passnet-core-{_first_half(core)}")
    except OSError:
        return False
    return True


def _first_half(core: int) -> int:
    """The first of the logical cores that are one core."""
    try:
        told = Path(f"/sys/devices/system/cpu/cpu{core}/topology/core_cpus_list").read_text()
    except OSError:
        return core
    digits = told.strip().replace("-", ",").partition(",")[0]
    return int(digits) if digits.isdigit() else core
