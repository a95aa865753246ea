"""What a served app holds of its machine: processes, handles, temporary files, shared memory and memory."""

import contextlib
import ctypes
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from passnet_core.judge.supervisor import sandbox
from tests.waiting import eventually

SET_CHILD_SUBREAPER = 36
SHARED_MEMORY = Path("/dev/shm")
AT_REST_S = 30.0
"""For so many seconds nothing changes before it counts as what is held at rest: what is idle is closed by then."""


@dataclass(frozen=True)
class Held:
    """What an app and all processes that it has started hold.

    handles: open files, of which some are sockets. temporary: files and folders in its folder for temporary files.
    shared: files in /dev/shm that were not there before. memory_bytes: of the app's own process, resident.
    stored_bytes: of the folder of its results."""

    processes: int
    zombies: int
    handles: int
    sockets: int
    temporary: int
    shared: int
    memory_bytes: int
    stored_bytes: int


LEFT_BEHIND = ("processes", "zombies", "handles", "sockets", "temporary", "shared")
"""What must not grow, however much was judged."""
assert set(LEFT_BEHIND) < {field.name for field in fields(Held)}


@dataclass(frozen=True)
class Family:
    """An app, and what it has started. Orphans of it are adopted while adopting() is entered. others: children of this
    process that are none of it. temporary, home: its folders."""

    app: int
    others: frozenset[int]
    temporary: Path
    home: Path
    shared: frozenset[str]

    def pids(self) -> dict[int, bool]:
        """Its processes, and whether each is a zombie."""
        below = sandbox._below(os.getpid())
        strangers = {pid for other in self.others for pid in (other, *sandbox._below(other))}
        return {pid: process.dead for pid, process in below.items() if pid not in strangers}

    def held(self) -> Held:
        """What it holds now."""
        self._bury()
        pids = self.pids()
        handles = [target for pid in pids for target in _handles(pid)]
        return Held(
            processes=len(pids),
            zombies=sum(pids.values()),
            handles=len(handles),
            sockets=sum(target.startswith("socket:") for target in handles),
            temporary=sum(1 for _ in self.temporary.rglob("*")),
            shared=len(set(os.listdir(SHARED_MEMORY)) - self.shared),
            memory_bytes=_resident_bytes(self.app),
            stored_bytes=sum(_size(file) for file in self.home.rglob("*")),
        )

    def at_rest(self, *, before: Held | None = None, idle_s: float = 90.0) -> Held:
        """What it holds once nothing of it changes any more for a while, or as soon as it is no more than before."""
        since, last = time.monotonic(), self.held()

        def unchanged() -> Held | None:
            nonlocal since, last
            now = self.held()
            if before is not None and not grown(before, now):
                return now
            if left_behind(now) != left_behind(last):
                since, last = time.monotonic(), now
            return last if time.monotonic() - since > AT_REST_S else None

        with contextlib.suppress(AssertionError):  # what it holds says more than that it does not rest
            return eventually(unchanged, "rest", idle_s=idle_s)
        return self.held()

    def _bury(self) -> None:
        """Wait for orphans that have ended, as the first process of a machine does."""
        for pid, process in sandbox._below(os.getpid()).items():
            if process.dead and pid != self.app and pid not in self.others and _parent(pid) == os.getpid():
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def left_behind(held: Held) -> dict[str, int]:
    return {name: getattr(held, name) for name in LEFT_BEHIND}


def grown(before: Held, after: Held) -> dict[str, tuple[int, int]]:
    """What is held more than before, with both numbers."""
    was, is_now = left_behind(before), left_behind(after)
    return {name: (was[name], is_now[name]) for name in LEFT_BEHIND if is_now[name] > was[name]}


def children() -> frozenset[int]:
    """The processes that this one has started."""
    return frozenset(pid for pid in sandbox._below(os.getpid()) if _parent(pid) == os.getpid())


def is_app(pid: int) -> bool:
    """Whether a process serves the app to strangers."""
    with contextlib.suppress(OSError):
        return b"--serve" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return False


def shared_files() -> frozenset[str]:
    return frozenset(os.listdir(SHARED_MEMORY))


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Have processes whose parent ends become children of this one, so that none of a family is lost to sight."""
    prctl: Callable[..., int] = ctypes.CDLL(None).prctl
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _handles(pid: int) -> Iterator[str]:
    """What the open files of a process are. One that has ended has none."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                yield os.readlink(f"/proc/{pid}/fd/{name}")


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _resident_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _size(file: Path) -> int:
    with contextlib.suppress(OSError):
        return file.stat().st_size if file.is_file() else 0
    return 0
