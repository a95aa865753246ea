"""A fork server, seen from the referee: a process with torch loaded that forks a worker per job. Loads no torch."""

import contextlib
import json
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.log_tail import LogTail
from passnet_core.judge.supervisor.zygote import Zygote, ZygoteChild
from passnet_core.records import Device, Isolation

START_LIMIT_S = 180.0
"""How long a fork server may take to load torch, on a busy machine too."""
PATIENCE_S = 10.0
"""How long a fork server may take to answer. It runs no candidate code, so it is never slow by intent."""


@dataclass
class Flag:
    """What a signal's handler may set: the lock of an Event could be held by what it interrupts."""

    is_set: bool = False


@dataclass(frozen=True)
class WorkerPlace:
    """Where fork servers run. folder: holds the scratch folders of isolation by process. given_up: whether nobody waits
    for the job any more, whose workers end then as if its time were up."""

    isolation: Isolation
    folder: Path
    given_up: Flag = field(default_factory=Flag, compare=False)


class ForkServer:
    """A running fork server. It dies with the thread that created it, so create it on one that lives long enough.

    zygote: what forks it; None: it is a program of its own, and loads torch. compiling: load torch's compiler too, if
    that makes no job wait. bound_to: the digest of the one bundle it serves, None until it has one. ready: torch is
    loaded. primed: its next worker is. Both are known as of the last message that was heard."""

    def __init__(
        self,
        place: WorkerPlace,
        device: Device,
        who: str = "candidate",
        *,
        zygote: Zygote | None = None,
        compiling: bool = False,
    ) -> None:
        self.device = device
        self.place = place
        self.bound_to: str | None = None
        self.ready = self.primed = False
        self.control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.log = LogTail()
        self.folder: Path | None = None
        self._zygote = zygote
        self._process: subprocess.Popen[bytes] | ZygoteChild | None = None
        try:
            if zygote is not None:
                zygote.ask(who, remote, self.log.writer, compiling=compiling)
            else:
                self._process = self._program(remote, who)
        finally:
            remote.close()
            self.log.close_writer()

    def _program(self, remote: socket.socket, who: str) -> subprocess.Popen[bytes]:
        """Start it as a program of its own."""
        if self.place.isolation is not Isolation.SANDBOXED:
            self.folder = Path(tempfile.mkdtemp(prefix="judge-", dir=self.place.folder))
        scratch = sandbox.private_temp() if self.folder is None else str(self.folder)
        words = ("fork-server", str(remote.fileno()), self.device.value, scratch, who)
        argv = [sys.executable, "-m", "passnet_core.judge", *words]
        return sandbox.started(
            argv,
            isolation=self.place.isolation,
            device=self.device,
            scratch=scratch,
            channel=remote,
            log=self.log.writer,
        )

    @property
    def process(self) -> "subprocess.Popen[bytes] | ZygoteChild":
        """Its process. Only once it is ready, if a zygote forks it."""
        assert self._process is not None
        return self._process

    def wait_until_ready(self) -> None:
        """Waits until torch is loaded. Raises InfrastructureError with the process's output if it does not start."""
        until = time.monotonic() + START_LIMIT_S
        while not self.ready:
            told = self._received(until)
            if told is None:
                self.stop()
                said = self.log.finish().strip() or (self._zygote.log.text.strip() if self._zygote else "")
                raise InfrastructureError(f"The judge's process cannot be started: {said[-1500:] or 'no output'}")
            self._note(told)

    @property
    def alive(self) -> bool:
        if self._process is None:
            return self._zygote is not None and self._zygote.alive
        return self._process.poll() is None

    def hear(self, timeout_s: float) -> dict[str, Any] | None:
        """The next message about a worker. None: the process has ended, or sent nothing for that long. A fork server
        that can serve no other worker is stopped."""
        until = time.monotonic() + timeout_s
        while (told := self._received(until)) is not None and self._note(told):
            pass
        return told

    def look(self) -> None:
        """Learn without waiting how far it is. Only for one without a worker."""
        self.hear(0.0)

    def _note(self, told: dict[str, Any]) -> bool:
        """Note what a message says about the process itself. Returns whether it says nothing else."""
        if told.get("spent"):
            self.stop()
        self.ready |= "ready" in told
        self.primed |= "primed" in told
        return not told.keys().isdisjoint(("born", "ready", "primed"))

    def _received(self, until: float) -> dict[str, Any] | None:
        try:
            if not select.select([self.control], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            data, descriptors, _, _ = socket.recv_fds(self.control, 4096, 2)
            told = json.loads(data) if data else None
            if self._process is None and told is not None:
                self._process = ZygoteChild(told["born"], descriptors)
                return told
        except (OSError, ValueError):
            return None
        return told if isinstance(told, dict) else None

    def fork(self, limits: sandbox.Limits, cpu_s: float, *, compiling: bool) -> tuple[socket.socket, LogTail]:
        """Forks a worker and returns its channel and its log. compiling: load torch's compiler first.

        cpu_s: processor time that the worker may use. Raises InfrastructureError if the fork server does not answer."""
        channel, remote = socket.socketpair()
        log = LogTail()
        request = json.dumps({"fork": {"limits": asdict(limits), "cpu_s": cpu_s, "compiling": compiling}}).encode()
        try:
            socket.send_fds(self.control, [request], [remote.fileno(), log.writer])
        except OSError as error:
            channel.close()
            raise InfrastructureError(f"The judge's process has ended: {error}") from error
        finally:
            remote.close()
            log.close_writer()
        told = self.hear(START_LIMIT_S)
        if told is None or "started" not in told:
            channel.close()
            raise InfrastructureError("The judge's process does not start a worker.")
        self.primed = False
        return channel, log

    def prime(self, lock: Path, *, compiling: bool) -> None:
        """Primes the next worker on CUDA, where creating a context takes seconds, unless one is primed already. It
        begins once torch is loaded and nobody measures. lock: the device's lock file. compiling: load torch's compiler
        as well, which a job can do without or have loaded when it comes."""
        if self.device is Device.CPU or self.primed:
            return
        with contextlib.suppress(OSError), lock.open("a") as file:
            request = json.dumps({"prime": {"compiling": compiling}}).encode()
            socket.send_fds(self.control, [request], [file.fileno()], socket.MSG_NOSIGNAL)

    def rest(self) -> None:
        """Stops it with all its workers until wake(). Only for one without a job, and not for one of a zygote, which
        rests as a whole."""
        sandbox.rest(self.process.pid)

    def wake(self) -> None:
        """Goes on after rest()."""
        sandbox.wake(self.process.pid)

    def stop(self) -> None:
        """Kills the process with everything that it started, and removes its scratch folder."""
        self.control.close()
        if self._process is None:
            # it will find its channel closed once it is born
            return
        if self.alive and self.place.isolation is Isolation.PROCESS:
            sandbox.kill_tree(self._process.pid, reap=False)
        # in a sandbox, killing it ends the namespace and every process in it
        self._process.kill()
        self._process.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
